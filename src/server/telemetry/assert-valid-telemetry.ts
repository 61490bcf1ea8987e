import { defineOptionNames } from "../../usage-checks/index.ts";
import { isHttpUrl } from "../is-http-url.ts";
import { createOptionError } from "../option-error.ts";
import type { MetricsOptions, TelemetryOptions } from "./telemetry-options.ts";

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
