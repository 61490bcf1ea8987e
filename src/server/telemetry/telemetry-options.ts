import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { isHttpUrl, createOptionError } from "../option-error.ts";

/** Options for traces and for the export of spans and metrics. */
export interface TelemetryOptions {
  /**
   * Base URL of a collector, such as `http://127.0.0.1:4318`, which receives spans and metrics over OTLP/HTTP. Requires
   * packages of OpenTelemetry, which ADK also installs. Ignored if the program has registered its own provider. By
   * default, the server exports nothing.
   */
  readonly otlp?: string;
  /** Headers of requests to the collector, such as an API key. */
  readonly otlpHeaders?: Readonly<Record<string, string>>;
  /** Name of the service in exported traces. Default: the environment variable `OTEL_SERVICE_NAME`, or `colloquy`. */
  readonly serviceName?: string;
  /**
   * Share of the new traces that the server exports, from 0 to 1. Callers that send `traceparent` decide for their own
   * traces. Default: 1.
   */
  readonly sampleRatio?: number;
  /** Time in milliseconds between two exports of metrics. Default: 60,000. */
  readonly metricIntervalMs?: number;
}

/** Options for the metrics endpoint, which replies in the format of Prometheus. */
export interface MetricsOptions {
  /**
   * Bearer token of `GET /metrics` on the port of the server. Default: the environment variable
   * `COLLOQUY_METRICS_TOKEN`. Without a token, the port of the server has no metrics.
   */
  readonly token?: string;
  /**
   * Port of a separate HTTP server, which replies to `GET /metrics` without authentication. Keep the port inside of your
   * network. By default, there is no separate server.
   */
  readonly port?: number;
  /** Network interface of the separate server. Default: `127.0.0.1`. */
  readonly host?: string;
}

const assertKnownTelemetryOptions = defineOptionNames<TelemetryOptions>()(
  '"telemetry" of createServer',
  "metricIntervalMs otlp otlpHeaders sampleRatio serviceName",
);
/** Throws an error for an unknown option of the metrics endpoint. */
export const assertKnownMetricsOptions: (options: unknown) => void = defineOptionNames<MetricsOptions>()(
  '"metrics" of createServer',
  "host port token",
);

/** Throws an error if an option for traces or for their export is invalid. */
export function assertValidTelemetry(telemetry: TelemetryOptions): void {
  assertKnownTelemetryOptions(telemetry);
  const { otlp, sampleRatio = 1 } = telemetry;
  if (otlp !== undefined && !isHttpUrl(otlp))
    throw createOptionError(
      "telemetry.otlp",
      otlp,
      "use the URL of a collector, such as http://127.0.0.1:4318",
    );
  if (!(sampleRatio >= 0 && sampleRatio <= 1))
    throw createOptionError("telemetry.sampleRatio", sampleRatio, "use a number from 0 to 1");
}
