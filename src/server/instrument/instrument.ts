import {
  systemClock,
  withSafeListeners,
  type AgentDescription,
  type Clock,
  type Observer,
  type RunTracing,
} from "../../engine/index.ts";
import { resolveObserver } from "../../observe/logging/index.ts";
import type { CardOfSpan } from "../../observe/telemetry/index.ts";
import type { OpenTrafficRecord } from "../../observe/trace/recording/index.ts";
import type { ServerStore } from "../resolve-store.ts";
import type { ServerAddress } from "../server-interface.ts";
import type { ServerOptions } from "../server-options.ts";
import type { ServerPlatform } from "../server-platform.ts";
import type {
  OperationWatch,
  OperationWatcher,
  RefusedRequest,
  RequestInstrument,
  StartedOperation,
} from "./operation-watch.ts";
import type { ServerGauges, ServerTelemetry } from "./server-telemetry.ts";
import type { ServerTrafficRecorder } from "./traffic-recorder.ts";

/** An agent whose description the traffic record contains. */
interface RecordedAgent {
  readonly id: string;
  readonly url: string;
  readonly loadDescription: () => AgentDescription | Promise<AgentDescription>;
}

/** Everything that watches a server, and what it offers to the rest of the server. */
export interface Instrument extends RequestInstrument {
  readonly runTracing: RunTracing | undefined;
  readonly handleMetricsRequest: ServerTelemetry["handleMetricsRequest"];
  /** Starts the separate server of the metrics, and resolves with its address. */
  listenForMetrics(): Promise<ServerAddress["metrics"]>;
  /** Call `open` before the store is open, so that the recovery of tasks is watched, too. */
  open(gauges: ServerGauges, agents: readonly RecordedAgent[]): Promise<void>;
  close(): Promise<void>;
}

/** Where the reports of an instrument come from, apart from the options of its server. */
interface InstrumentSources {
  readonly store: ServerStore;
  /** Observers that other parts of the server need. */
  readonly observers: readonly Observer[];
  /** Returns the card of an agent, if it is loaded. */
  readonly findCard: (agentId: string) => CardOfSpan | undefined;
}

/** Attaches all subscribers of a server once. */
export function createInstrument(
  platform: ServerPlatform,
  { observer: observerOption, record: recordOption, telemetry, metrics }: ServerOptions,
  { store, observers, findCard }: InstrumentSources,
): Instrument {
  const logObserver = resolveObserver(observerOption);
  const onLoss = (error: unknown): void => logObserver.onError?.({ where: "traffic record", error });
  const record =
    recordOption === undefined
      ? undefined
      : new TrafficRecording(
          platform.openTrafficRecord(recordOption, { vantage: "server", name: "server", onLoss }),
        );
  const attached = platform.createTelemetry({ telemetry, metrics, findCard, record: record?.writer });
  const observer = combineObservers(
    [logObserver, record?.observer, ...observers, attached.observer].filter((one) => one !== undefined),
  );
  const stopStateReports =
    observer.onStoreState && store.health?.onChange((change) => observer.onStoreState?.(change));
  return {
    observer,
    runTracing: attached.runTracing,
    operationWatchers: [record, attached.operationWatcher].filter((one) => one !== undefined),
    recordRefusal: record?.recordRefusal,
    handleMetricsRequest: attached.handleMetricsRequest,
    listenForMetrics: async () => await attached.listen?.(),
    async open(gauges, agents) {
      await record?.open(agents);
      await attached.open?.(gauges, (error) => observer.onError?.({ where: "telemetry", error }));
    },
    async close() {
      stopStateReports?.();
      await attached.close?.();
      await record?.close();
    },
  };
}

/**
 * Returns an observer that calls the listeners of several observers, and that ignores their errors. Missing listeners
 * stay missing, because the engine then does not build the report.
 */
function combineObservers(observers: readonly Observer[]): Observer {
  type Listener = (seen: unknown) => void;
  const combined: Record<string, Listener> = {};
  for (const observer of observers.map(withSafeListeners))
    for (const [name, listener] of Object.entries(observer) as [string, Listener][]) {
      const earlier = combined[name];
      combined[name] = earlier
        ? (seen) => {
            earlier(seen);
            listener(seen);
          }
        : listener;
    }
  return combined;
}

/** The recording of a server's traffic. Servers without a traffic record do not load the recorder. */
class TrafficRecording implements OperationWatcher {
  readonly writer: OpenTrafficRecord["writer"];
  /** Stores the remaining lines. */
  readonly close: () => Promise<void>;
  #recorder: ServerTrafficRecorder | undefined;
  /** Listeners for the events, turns, and push notifications of the engine. */
  readonly observer: Observer = {
    onEvent: (report) => this.#recorder?.observer.onEvent(report),
    onRun: (report) => this.#recorder?.observer.onRun(report),
    onPush: (report) => this.#recorder?.observer.onPush(report),
    onAgentCall: (report) => this.#recorder?.observer.onAgentCall(report),
  };
  readonly recordRefusal = (refusal: RefusedRequest): void => this.#recorder?.recordRefusal(refusal);

  constructor(record: OpenTrafficRecord) {
    this.writer = record.writer;
    this.close = () => record.close();
  }

  get isActive(): boolean {
    return this.#recorder !== undefined;
  }

  start(started: StartedOperation): OperationWatch {
    return this.#recorder!.watchOperation(started);
  }

  async open(agents: readonly RecordedAgent[]): Promise<void> {
    if (this.#recorder) return;
    const { ServerTrafficRecorder } = await import("./traffic-recorder.ts");
    const recorder = new ServerTrafficRecorder(this.writer);
    this.#recorder = recorder;
    for (const { id, url, loadDescription } of agents) void recorder.addAgent(id, url, loadDescription);
  }
}

/** Time between two reports of the gauges in milliseconds. */
const GAUGE_INTERVAL_MS = 10_000;

/**
 * Reports the gauges of an open store at once and every 10 seconds, if the store has gauges and the observer listens.
 * Returns a function that stops the reports.
 */
export function startStoreGaugeReports(
  { readGauges }: Pick<ServerStore, "readGauges">,
  { onStoreGauges }: Pick<Observer, "onStoreGauges">,
  clock: Clock = systemClock,
): () => void {
  if (!readGauges || !onStoreGauges) return () => {};
  let cancelNext: (() => void) | undefined;
  const report = (): void => {
    onStoreGauges(readGauges());
    cancelNext = clock.schedule(GAUGE_INTERVAL_MS, report);
  };
  report();
  return () => cancelNext?.();
}
