import type { AgentDescription, Observer } from "../../engine/index.ts";
import type { OpenTrafficRecord, TrafficWriter } from "../../observe/trace/recording/index.ts";
import { getHttpAndGrpcErrorStatus } from "../../wire/index.ts";
import type { ServerTrafficRecorder } from "./server-traffic-recorder.ts";

type RecordedListener = "onEvent" | "onRun" | "onPush" | "onAgentCall";

/** An agent whose description the traffic record contains. */
interface RecordedAgent {
  readonly id: string;
  readonly url: string;
  readonly loadDescription: () => AgentDescription | Promise<AgentDescription>;
}

/** The recording of a server's traffic. Servers without a traffic record do not load the recorder. */
export class TrafficRecording {
  readonly #record: OpenTrafficRecord;
  #recorder: ServerTrafficRecorder | undefined;
  #listeners: Required<Pick<Observer, RecordedListener>> | undefined;

  constructor(record: OpenTrafficRecord) {
    this.#record = record;
  }

  get writer(): TrafficWriter {
    return this.#record.writer;
  }

  /** The recorder, which is present while the server processes requests. */
  get recorder(): ServerTrafficRecorder | undefined {
    return this.#recorder;
  }

  /** Listeners for the events, turns, and push notifications of the engine. */
  readonly observer: Required<Pick<Observer, RecordedListener>> = {
    onEvent: (report) => this.#listeners?.onEvent(report),
    onRun: (report) => this.#listeners?.onRun(report),
    onPush: (report) => this.#listeners?.onPush(report),
    onAgentCall: (report) => this.#listeners?.onAgentCall(report),
  };

  /** Starts to record. Call `start` before the first request and before the recovery of tasks. */
  async start(agents: readonly RecordedAgent[]): Promise<void> {
    if (this.#recorder) return;
    const { ServerTrafficRecorder } = await import("./server-traffic-recorder.ts");
    const recorder = new ServerTrafficRecorder(
      this.#record,
      (reason) => getHttpAndGrpcErrorStatus(reason, "1.0.1").http,
    );
    this.#recorder = recorder;
    this.#listeners = recorder.observer;
    for (const { id, url, loadDescription } of agents) void recorder.addAgent(id, url, loadDescription);
  }

  /** Stores the remaining lines. */
  close(): Promise<void> {
    return this.#record.close();
  }
}
