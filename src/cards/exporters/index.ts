/**
 * Exporters of runs to other tools: Perfetto, OpenTelemetry collectors, and consumers of the A2A Traceability
 * extension.
 * All functions are pure and accept cards or a recording.
 */
export { toOtlpTraces } from "./otlp.ts";
export { toPerfettoTrace } from "./perfetto.ts";
export { TRACEABILITY_EXTENSION, toResponseTraces } from "./traceability.ts";
export type { TraceExportOptions } from "./trace-spans.ts";
