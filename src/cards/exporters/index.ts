/**
 * The exporters convert recorded runs for Perfetto, OpenTelemetry collectors, and users of the A2A
 * Traceability extension. All exporters are pure functions that accept a list of message cards or a
 * recording.
 */
export { toOtlpTraces } from "./otlp.ts";
export { toPerfettoTrace } from "./perfetto.ts";
export { toTraceabilityTraces } from "./traceability-traces.ts";
export type { TraceExportOptions } from "./trace-spans.ts";
