/**
 * A RUN FOR OTHER TOOLS: as JSON that Perfetto, collectors of OpenTelemetry and readers of A2A's Traceability extension
 * understand. Pure functions of cards or of a recording.
 */
export { toOtlpTraces } from "./otlp.ts";
export { toPerfettoTrace } from "./perfetto.ts";
export {
  TRACEABILITY_EXTENSION,
  toResponseTraces,
  type ResponseTrace,
  type TraceStep,
} from "./traceability.ts";
export type { TraceExportOptions } from "./trace-spans.ts";
