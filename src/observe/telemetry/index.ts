/**
 * TELEMETRY. The folder `telemetry` continues distributed traces from process to process, and describes the work of a
 * server as spans and metrics. `trace-scope.ts` knows the trace of the running code. The folder `protocol` reads and
 * writes the W3C headers. A `Tracer` starts spans: without OpenTelemetry, a span only has an id, which the next process
 * receives. `opentelemetry/` is the only folder that imports packages of OpenTelemetry. `node/` loads it only if the
 * program has registered a provider.
 */
export type { CardOfSpan } from "./conventions.ts";
export {
  buildA2ARequestAttributes,
  buildA2AResponseAttributes,
  buildAgentRunAttributes,
  buildMcpToolCallAttributes,
  buildServerAddressAttributes,
} from "./conventions.ts";
export type { SpanAttributes, SpanError, TracedSpan } from "./tracer.ts";
export { getTracer, isProviderRegistered } from "./tracer.ts";
export type { MetricName } from "./metrics/metric-registry.ts";
export {
  METRIC_CATALOG,
  toPrometheusName,
  MetricRegistry,
  PROMETHEUS_CONTENT_TYPE,
  renderPrometheusText,
} from "./metrics/metric-registry.ts";
export type { RunningOtlpExport } from "./otlp-export-options.ts";
export { addParentTask, findParentTask } from "./parent-task-metadata.ts";
export { onTelemetryError } from "./telemetry-errors.ts";
export type { TraceScope } from "./trace-scope.ts";
export type { Tracer } from "./tracer.ts";
export {
  getCurrentTraceScope,
  installTraceScopeStorage,
  type RunningTask,
  runInTraceScope,
} from "./trace-scope.ts";
