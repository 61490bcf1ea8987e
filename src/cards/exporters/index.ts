/**
 * The exporters convert recorded runs to the formats of Perfetto, OpenTelemetry, and the A2A Traceability
 * extension. All exporters are pure functions that accept a list of message cards or a recording.
 */
export { toOtlpTraces } from "./otlp.ts";
export { toPerfettoTrace } from "./perfetto.ts";
export { toTraceabilityTraces } from "./traceability-traces.ts";
export type { TraceExportOptions } from "./trace-spans.ts";
