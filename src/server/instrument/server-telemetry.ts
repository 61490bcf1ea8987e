import { createServer, type Server } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { AsyncLocalStorage } from "node:async_hooks";
import type { Engine, Observer, RunTracing, StoreGauges } from "../../engine/index.ts";
import type { Outbox } from "../../webhooks/index.ts";
import {
  buildAgentRunAttributes,
  type CardOfSpan,
  isProviderRegistered,
  MetricRegistry,
  onTelemetryError,
  type RunningOtlpExport,
  PROMETHEUS_CONTENT_TYPE,
  renderPrometheusText,
  installTraceScopeStorage,
  type TraceScope,
} from "../../observe/telemetry/index.ts";
import {
  publishMetricsIfRegistered,
  startOtlpExportOnce,
  useRegisteredOpenTelemetry,
} from "../../observe/telemetry/node/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import { type HttpReply, type HttpRequest, assertHttpMethodAllowed } from "../http-exchange.ts";
import { createRunTracing } from "./create-run-tracing.ts";
import { OperationTelemetry, type OperationReport } from "./operation-telemetry.ts";
import type { OperationWatcher } from "./operation-watch.ts";
import type { MetricsOptions, TelemetryOptions } from "../server-options.ts";
import { A2AError, findHostRefusal, isInterrupted, isTerminal } from "../../protocol/index.ts";
import { isSameSecret } from "../../base/data-structures/index.ts";
import type { ServerStore } from "../resolve-store.ts";

const DEFAULT_METRIC_INTERVAL_MS = 60_000;

export interface ServerTelemetryDependencies {
  readonly telemetry: TelemetryOptions | false | undefined;
  readonly metrics: MetricsOptions | undefined;
  /** Returns the card of an agent, if it is loaded. */
  readonly findCard: (agentId: string) => CardOfSpan | undefined;
  /** Record of the server's traffic, if the server has one. */
  readonly record: TrafficWriter | undefined;
}

/** State of a server that gauges show. */
export interface ServerGauges {
  readonly store: Pick<ServerStore, "readGauges" | "health">;
  readonly countOpenStreams: () => number;
  readonly listEngines: () => readonly Pick<Engine, "agentId" | "waitingTurnCounts">[];
  readonly outbox: Pick<Outbox, "pendingDeliveryCounts"> | undefined;
  readonly byteLedger: { readonly reserved: number; readonly capacity: number };
}

/** The spans and metrics of one server. A member that is absent has no subscriber. */
export interface ServerTelemetry {
  /** Counts metrics. */
  readonly observer?: Observer | undefined;
  /** Starts the spans of agents' runs. Undefined if the option `telemetry` is `false`. */
  readonly runTracing: RunTracing | undefined;
  readonly operationWatcher?: OperationWatcher | undefined;
  /** Replies to `GET /metrics` on the port of the server. Without a token, the endpoint does not exist. */
  readonly handleMetricsRequest?: ((request: HttpRequest) => HttpReply) | undefined;
  /** Uses the providers that the program has registered, or starts the export to a collector. */
  open?(gauges: ServerGauges, reportError: (error: unknown) => void): Promise<void>;
  /** Starts the separate server of the metrics, and resolves with its address. */
  listen?(): Promise<{ readonly host: string; readonly port: number } | undefined>;
  /** Sends the finished spans, and closes the separate server. */
  close?(): Promise<void>;
}

/** The telemetry of a server on Node.js. */
export class NodeTelemetry implements ServerTelemetry {
  readonly observer: Observer | undefined;
  readonly runTracing: RunTracing | undefined;
  readonly operationWatcher: OperationWatcher | undefined;
  readonly handleMetricsRequest: ServerTelemetry["handleMetricsRequest"];
  readonly #telemetry: TelemetryOptions | false;
  readonly #metricsOptions: MetricsOptions;
  readonly #registry: MetricRegistry | undefined;
  readonly #findAgentName: (agentId: string) => string;
  #eventLoopDelay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #listener: Server | undefined;
  #otlpExport: RunningOtlpExport | undefined;
  #stopErrorReports: (() => void) | undefined;

  constructor({ telemetry = {}, metrics = {}, findCard, record }: ServerTelemetryDependencies) {
    this.#telemetry = telemetry;
    this.#metricsOptions = metrics;
    const token = metrics.token ?? process.env["COLLOQUY_METRICS_TOKEN"];
    const startsSpans = telemetry !== false;
    const isExported = startsSpans && (telemetry.otlp !== undefined || isProviderRegistered("metrics"));
    const registry =
      token !== undefined || metrics.port !== undefined || isExported ? new MetricRegistry() : undefined;
    this.#registry = registry;
    this.#findAgentName = (agentId) => findCard(agentId)?.name ?? agentId;
    if (startsSpans) {
      installNodeTraceScope();
      this.runTracing = createRunTracing({ findCard, buildRunAttributes: buildAgentRunAttributes, record });
    }
    if (startsSpans || registry)
      this.operationWatcher = new OperationTelemetry(
        startsSpans,
        registry && ((report) => recordOperation(registry, report)),
      );
    this.observer = registry && createMetricsObserver(registry, this.#findAgentName);
    if (registry && token !== undefined)
      this.handleMetricsRequest = (request) => handleMetricsRequest(request, token, registry);
  }

  async open(gauges: ServerGauges, reportError: (error: unknown) => void): Promise<void> {
    const registry = this.#registry;
    this.#stopErrorReports ??= onTelemetryError(reportError);
    if (this.#telemetry !== false) {
      const { otlp: url, otlpHeaders: headers, sampleRatio = 1, metricIntervalMs } = this.#telemetry;
      const { serviceName = process.env["OTEL_SERVICE_NAME"] ?? "colloquy" } = this.#telemetry;
      if (url !== undefined)
        this.#otlpExport = await startOtlpExportOnce({
          url,
          headers,
          serviceName,
          sampleRatio,
          metricIntervalMs: metricIntervalMs ?? DEFAULT_METRIC_INTERVAL_MS,
        });
      else await useRegisteredOpenTelemetry();
    }
    if (!registry) return;
    this.#eventLoopDelay = monitorEventLoopDelay({ resolution: 20 });
    this.#eventLoopDelay.enable();
    registry.onRead(() => this.#setGauges(registry, gauges));
    if (this.#telemetry !== false) await publishMetricsIfRegistered(registry);
  }

  async listen(): Promise<{ readonly host: string; readonly port: number } | undefined> {
    const { port, host = "127.0.0.1" } = this.#metricsOptions;
    if (port === undefined || !this.#registry) return undefined;
    const listener = createMetricsListener(this.#registry, host);
    await new Promise<void>((resolve, reject) => {
      listener.once("error", (cause) =>
        reject(
          new Error(`The metrics server cannot listen on ${host}:${port}; choose another port.`, { cause }),
        ),
      );
      listener.listen(port, host, resolve);
    });
    this.#listener = listener;
    const address = listener.address();
    return { host, port: typeof address === "object" && address ? address.port : port };
  }

  async close(): Promise<void> {
    this.#listener?.close();
    this.#listener?.closeAllConnections();
    this.#eventLoopDelay?.disable();
    await this.#otlpExport?.flush();
    this.#stopErrorReports?.();
  }

  #setGauges(registry: MetricRegistry, gauges: ServerGauges): void {
    const { store, countOpenStreams, byteLedger, listEngines, outbox } = gauges;
    for (const { agentId, waitingTurnCounts } of listEngines())
      setWaitingTurns(registry, this.#findAgentName(agentId), waitingTurnCounts);
    if (outbox) setPendingDeliveries(registry, outbox.pendingDeliveryCounts);
    registry.set("colloquy.streams.open", countOpenStreams());
    registry.set("colloquy.buffered.used", byteLedger.reserved);
    registry.set("colloquy.buffered.limit", byteLedger.capacity);
    registry.set("colloquy.store.healthy", (store.health?.state ?? "healthy") === "healthy" ? 1 : 0);
    const storeGauges = store.readGauges?.();
    if (storeGauges) setStoreGauges(registry, storeGauges);
    registry.set("process.memory.usage", process.memoryUsage.rss());
    const delay = this.#eventLoopDelay;
    if (!delay) return;
    registry.set("nodejs.eventloop.delay.p99", delay.count === 0 ? 0 : delay.percentile(99) / 1e9);
    delay.reset();
  }
}

/** Replies to `GET /metrics` with the metrics in the format of Prometheus. */
function handleMetricsRequest(request: HttpRequest, token: string, registry: MetricRegistry): HttpReply {
  assertHttpMethodAllowed(request, ["GET", "HEAD"]);
  if (!isSameSecret(request.header("authorization") ?? "", `Bearer ${token}`))
    throw new A2AError(
      "UNAUTHENTICATED",
      "GET /metrics requires the bearer token of the option metrics.token.",
    );
  const headers = { "content-type": PROMETHEUS_CONTENT_TYPE, "cache-control": "no-store" };
  return { status: 200, headers, body: renderPrometheusText(registry) };
}

/**
 * Creates an HTTP server that replies to `GET /metrics` without authentication, for a port inside of the network. On
 * loopback, the server refuses foreign Host headers, so that web pages cannot read the metrics by DNS rebinding.
 */
function createMetricsListener(registry: MetricRegistry, host: string): Server {
  return createServer((request, response) => {
    const refusal = findHostRefusal(request.headersDistinct["host"], host);
    const isFound = request.url?.split("?", 1)[0] === "/metrics";
    const isAllowed = request.method === "GET" || request.method === "HEAD";
    if (refusal !== undefined) response.writeHead(refusal).end();
    else if (!isFound || !isAllowed) response.writeHead(isFound ? 405 : 404).end();
    else
      response
        .writeHead(200, { "content-type": PROMETHEUS_CONTENT_TYPE, "cache-control": "no-store" })
        .end(renderPrometheusText(registry));
  });
}

/**
 * Lets clients find the trace of the agent that calls them. The storage costs 0.6 µs per run on Node.js 24
 * (docs/decisions/034-traces-without-code.md).
 */
export function installNodeTraceScope(): void {
  installTraceScopeStorage(() => new AsyncLocalStorage<TraceScope>());
}

/** HTTP methods that become labels. Clients may send any other method. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "gRPC",
]);

/** Creates an observer that counts the activity of a server. `findAgentName` returns the name of an agent id. */
function createMetricsObserver(
  metrics: MetricRegistry,
  findAgentName: (agentId: string) => string,
): Observer {
  const runStarts = new Map<string, number>();
  return {
    onRequest: ({ method, status, durationMs }) =>
      metrics.record("colloquy.request.duration", durationMs / 1000, {
        method: KNOWN_METHODS.has(method) ? method : "_OTHER",
        status: String(status),
      }),
    onRun({ scope, taskId, phase, error, state }) {
      const agent = findAgentName(scope.agent);
      const labels = { "gen_ai.agent.name": agent };
      metrics.add("colloquy.runs.active", phase === "begin" ? 1 : -1, labels);
      if (phase === "begin") {
        runStarts.set(taskId, performance.now());
        return;
      }
      const startMs = runStarts.get(taskId) ?? performance.now();
      runStarts.delete(taskId);
      metrics.record("gen_ai.invoke_agent.duration", (performance.now() - startMs) / 1000, {
        ...labels,
        "a2a.task.state": state,
        "error.type": error === undefined ? undefined : getErrorType(error),
      });
    },
    onEvent({ scope, event: { event } }) {
      if (!("statusUpdate" in event)) return;
      const { state } = event.statusUpdate.status;
      if (isTerminal(state) || isInterrupted(state))
        metrics.add("colloquy.tasks.ended", 1, {
          "gen_ai.agent.name": findAgentName(scope.agent),
          "a2a.task.state": state,
        });
    },
    onCommit({ events, durationMs, error }) {
      const outcome = error === undefined ? "succeeded" : "failed";
      metrics.record("colloquy.commit.duration", durationMs / 1000, { outcome });
      if (error === undefined) metrics.add("colloquy.commit.events", events);
    },
    onPush: ({ outcome }) => metrics.add("colloquy.push.deliveries", 1, { outcome }),
    onError: ({ where }) => metrics.add("colloquy.errors", 1, { where }),
    onCredentialsRejected: ({ scheme }) => metrics.add("colloquy.credentials.rejected", 1, { scheme }),
    onReaderStalled: ({ connections }) => metrics.add("colloquy.readers.stalled", connections),
    onSweep: ({ deletedTasks }) => metrics.add("colloquy.retention.deleted_tasks", deletedTasks),
  };
}

/** Counts an A2A request. */
function recordOperation(metrics: MetricRegistry, report: OperationReport): void {
  const { operation, agentName, durationMs, errorType } = report;
  metrics.record("a2a.server.operation.duration", durationMs / 1000, {
    "a2a.method.name": operation,
    "gen_ai.agent.name": agentName,
    "error.type": errorType,
  });
}

/** Sets the numbers of waiting turns of an agent. */
function setWaitingTurns(
  metrics: MetricRegistry,
  agentName: string,
  counts: Engine["waitingTurnCounts"],
): void {
  for (const [reason, count] of Object.entries(counts))
    metrics.set("colloquy.turns.waiting", count, { "gen_ai.agent.name": agentName, reason });
}

/** Sets the backlog of the push outbox. */
function setPendingDeliveries(metrics: MetricRegistry, counts: Outbox["pendingDeliveryCounts"]): void {
  for (const [state, count] of Object.entries(counts)) metrics.set("colloquy.push.pending", count, { state });
}

/** Sets the metrics of a PostgreSQL store. */
function setStoreGauges(metrics: MetricRegistry, { pool, leases }: StoreGauges): void {
  for (const state of ["max", "open", "busy"] as const)
    metrics.set("colloquy.store.connections", pool[state], { state });
  metrics.set("colloquy.store.waiting", pool.waiting);
  metrics.set("colloquy.leases.held", leases.held);
  metrics.set("colloquy.leases.claimed", leases.claimed);
  metrics.set("colloquy.leases.waiting", leases.waiting);
  metrics.set("colloquy.leases.duration", leases.durationMs / 1000);
  metrics.set("colloquy.leases.renewal_age", leases.sinceRenewalMs / 1000);
}

/** Names of error classes are few. Messages are many. */
function getErrorType(error: unknown): string {
  if (error instanceof A2AError) return error.reason;
  return error instanceof Error ? error.name : "_OTHER";
}
