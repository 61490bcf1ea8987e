import { type Server as HttpServer, createServer, type Server } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { AsyncLocalStorage } from "node:async_hooks";
import { type Engine, type Observer, type RunTracing, withSafeListeners } from "../../engine/index.ts";
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
import type { HttpReply, HttpRequest } from "../http-exchange.ts";
import { combineObservers } from "./combine-observers.ts";
import { createRunTracing } from "./create-run-tracing.ts";
import {
  createMetricsObserver,
  recordOperation,
  setPendingDeliveries,
  setStoreGauges,
  setWaitingTurns,
} from "./metrics-observer.ts";
import { OperationObserver } from "./operation-observer.ts";
import type { MetricsOptions, TelemetryOptions } from "./telemetry-options.ts";
import { A2AError, findHostRefusal } from "../../protocol/index.ts";
import { assertHttpMethodAllowed } from "../bindings/method-not-allowed-error.ts";
import { isSameSecret } from "../../base/data-structures/index.ts";
import type { ServerStore } from "../resolve-store.ts";

const DEFAULT_METRIC_INTERVAL_MS = 60_000;

export interface ServerTelemetryDependencies {
  readonly telemetry: TelemetryOptions | false | undefined;
  readonly metrics: MetricsOptions | undefined;
  /** The observer of the program. */
  readonly observer: Observer;
  /** Returns the card of an agent, if it is loaded. */
  readonly findCard: (agentId: string) => CardOfSpan | undefined;
  /** Record of the server's traffic, if the server has one. */
  readonly record: TrafficWriter | undefined;
}

/** State of a server that gauges show. */
interface ServerGauges {
  readonly store: Pick<ServerStore, "readGauges" | "health">;
  readonly countOpenStreams: () => number;
  readonly listEngines: () => readonly Pick<Engine, "agentId" | "waitingTurnCounts">[];
  readonly outbox: Pick<Outbox, "pendingDeliveryCounts"> | undefined;
  readonly byteLedger: { readonly reserved: number; readonly capacity: number };
}

/** The spans and metrics of one server. */
export class ServerTelemetry {
  /** The observer of the program, and the observer that counts metrics. */
  readonly observer: Observer;
  /** Starts the spans of agents' runs. Undefined if the option `telemetry` is `false`. */
  readonly runTracing: RunTracing | undefined;
  readonly operationObserver: OperationObserver | undefined;
  readonly #telemetry: TelemetryOptions | false;
  readonly #metricsOptions: MetricsOptions;
  readonly #token: string | undefined;
  readonly #registry: MetricRegistry | undefined;
  readonly #findAgentName: (agentId: string) => string;
  #eventLoopDelay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #listener: HttpServer | undefined;
  #otlpExport: RunningOtlpExport | undefined;
  #stopErrorReports: (() => void) | undefined;

  constructor({ telemetry = {}, metrics = {}, observer, findCard, record }: ServerTelemetryDependencies) {
    this.#telemetry = telemetry;
    this.#metricsOptions = metrics;
    this.#token = metrics.token ?? process.env["COLLOQUY_METRICS_TOKEN"];
    const isExported =
      telemetry !== false && (telemetry.otlp !== undefined || isProviderRegistered("metrics"));
    const registry =
      this.#token !== undefined || metrics.port !== undefined || isExported
        ? new MetricRegistry()
        : undefined;
    this.#registry = registry;
    const startsSpans = telemetry !== false;
    if (startsSpans) installNodeTraceScope();
    this.runTracing = startsSpans
      ? createRunTracing({ findCard, buildRunAttributes: buildAgentRunAttributes, record })
      : undefined;
    this.operationObserver =
      startsSpans || registry
        ? new OperationObserver({
            startsSpans,
            onOperation: registry && ((report) => recordOperation(registry, report)),
          })
        : undefined;
    this.#findAgentName = (agentId) => findCard(agentId)?.name ?? agentId;
    const safeObserver = withSafeListeners(observer);
    this.observer = registry
      ? combineObservers([
          safeObserver,
          withSafeListeners(createMetricsObserver(registry, this.#findAgentName)),
        ])
      : safeObserver;
  }

  /** Uses the providers that the program has registered, or starts the export to a collector. */
  async open(gauges: ServerGauges): Promise<void> {
    const registry = this.#registry;
    this.#stopErrorReports ??= onTelemetryError((error) =>
      this.observer.onError?.({ where: "telemetry", error }),
    );
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

  /** Starts the separate server of the metrics, and resolves with its address. */
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

  handleMetricsRequest(request: HttpRequest): HttpReply | undefined {
    return handleMetricsRequest(request, { token: this.#token, registry: this.#registry });
  }

  /** Sends the finished spans, and closes the separate server. */
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

const METRICS_PATH = "/metrics";

/**
 * Replies to `GET /metrics` with the metrics in the format of Prometheus, or returns `undefined` for other paths. Without
 * a token, the endpoint does not exist.
 */
export function handleMetricsRequest(
  request: HttpRequest,
  { token, registry }: { readonly token: string | undefined; readonly registry: MetricRegistry | undefined },
): HttpReply | undefined {
  if (token === undefined || !registry || request.path !== METRICS_PATH) return undefined;
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
    const isFound = request.url?.split("?", 1)[0] === METRICS_PATH;
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
