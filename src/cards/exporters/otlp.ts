import type { JsonObject } from "../../protocol/index.ts";
import { convertCardsToRecording, type CardsOrRecording } from "../views/sample-delegation-forests.ts";
import { type TraceExportOptions, type TraceSpan, toTraceSpans } from "./trace-spans.ts";

/** Numeric OTLP code of each span kind. */
const OTLP_SPAN_KINDS: Readonly<Record<TraceSpan["kind"], number>> = { internal: 1, server: 2, client: 3 };
const OTLP_STATUS_ERROR = 2;

/**
 * Converts a run into an OTLP/HTTP request body in JSON, which collectors accept at `/v1/traces`. OTLP
 * encodes IDs as hexadecimal strings, span kinds as numbers, and nanosecond times as strings. Each role
 * becomes a separate OpenTelemetry service.
 */
export function toOtlpTraces(shown: CardsOrRecording, options: TraceExportOptions = {}): JsonObject {
  const spans = toTraceSpans(shown, options);
  const version = convertCardsToRecording(shown).run?.code;
  const scope = { name: "colloquy", ...(version !== undefined && { version }) };
  return {
    resourceSpans: [...Map.groupBy(spans, ({ service }) => service)].map(([service, serviceSpans]) => ({
      resource: { attributes: [toOtlpAttribute("service.name", service)] },
      scopeSpans: [{ scope, spans: serviceSpans.map(toOtlpSpan) }],
    })),
  };
}

function toOtlpSpan(span: TraceSpan): JsonObject {
  const { traceId, spanId, parentSpanId, name, kind, start, end, attributes, error } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: OTLP_SPAN_KINDS[kind],
    startTimeUnixNano: toNanoseconds(start),
    endTimeUnixNano: toNanoseconds(end),
    attributes: Object.entries(attributes).map(([key, value]) => toOtlpAttribute(key, value)),
    ...(error !== undefined && {
      status: { code: OTLP_STATUS_ERROR, ...(error !== "" && { message: error }) },
    }),
  };
}

function toOtlpAttribute(key: string, value: string | number | boolean): JsonObject {
  if (typeof value === "string") return { key, value: { stringValue: value } };
  if (typeof value === "boolean") return { key, value: { boolValue: value } };
  return { key, value: Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
}

/**
 * Converts milliseconds since 1970 to nanoseconds, as a string. Negative times become 0. JavaScript numbers
 * represent microseconds exactly until the year 2255, but they cannot represent nanoseconds exactly.
 */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.max(0, Math.round(ms * 1_000))) * 1_000n);
}
