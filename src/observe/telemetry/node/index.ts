/**
 * The use of the optional OpenTelemetry packages. Code for browsers and workers does not import this folder, because
 * bundlers reject packages that are not installed.
 */
export {
  publishMetricsIfRegistered,
  resetTracer,
  startOtlpExportOnce,
  useRegisteredOpenTelemetry,
} from "./use-opentelemetry.ts";
