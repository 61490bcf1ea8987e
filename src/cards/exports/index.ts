/**
 * A RUN FOR OTHER TOOLS: as JSON that Perfetto, collectors of OpenTelemetry and readers of A2A's Traceability extension
 * understand. Pure functions of cards or of a recording.
 */
export { otlpOf } from "./otlp.ts";
export { perfettoOf } from "./perfetto.ts";
export {
  TRACEABILITY_EXTENSION,
  traceabilityOf,
  type ResponseTrace,
  type TraceStep,
} from "./traceability.ts";
export type { TraceOptions } from "./trace-spans.ts";
