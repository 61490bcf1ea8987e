/**
 * TELEMETRY. The folder `telemetry` continues distributed traces from process to process, and describes the work of a
 * server as spans and metrics. `trace-scope.ts` knows the trace of the running code. The folder `protocol` reads and
 * writes the W3C headers. A `Tracer` starts spans: without OpenTelemetry, a span only has an id, which the next process
 * receives. `opentelemetry/` is the only folder that imports packages of OpenTelemetry. `node/` loads it only if the
 * program has registered a provider.
 */
export {
  buildA2ARequestAttributes,
  buildA2AResponseAttributes,
  buildAgentRunAttributes,
  buildMcpToolCallAttributes,
  buildServerAddressAttributes,
  type CardOfSpan,
} from "./conventions.ts";
export { getTracer, isProviderRegistered } from "./current-tracer.ts";
export { METRIC_CATALOG, type MetricName, toPrometheusName } from "./metrics/metric-catalog.ts";
export { type MetricLabels, MetricRegistry } from "./metrics/metric-registry.ts";
export { PROMETHEUS_CONTENT_TYPE, renderPrometheusText } from "./metrics/prometheus-text.ts";
export type { OtlpExportOptions, RunningOtlpExport } from "./otlp-export-options.ts";
export { addParentTask, findParentTask } from "./parent-task-metadata.ts";
export { onTelemetryError } from "./telemetry-errors.ts";
export {
  getCurrentTraceScope,
  installTraceScopeStorage,
  type ParentTask,
  runInTraceScope,
  type RunningTask,
  type ScopedToolCall,
  type TraceScope,
  type TraceScopeStorage,
} from "./trace-scope.ts";
export type { SpanAttributes, SpanError, SpanStart, TracedSpan, Tracer } from "./tracer.ts";
