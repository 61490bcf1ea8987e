import type { JsonObject } from "../../protocol/index.ts";
import { toRecording, type CardsOrRecording } from "../views/sample-exchanges.ts";
import { type TraceExportOptions, type TraceSpan, toTraceSpans } from "./trace-spans.ts";

/** Numeric span kinds of OTLP. */
const OTLP_SPAN_KINDS: Readonly<Record<TraceSpan["kind"], number>> = { internal: 1, server: 2, client: 3 };
const OTLP_STATUS_ERROR = 2;

/**
 * Converts a run into an OTLP/HTTP request in JSON, as collectors accept it at `/v1/traces`.
 * IDs are hexadecimal, kinds are numbers, and times are strings of nanoseconds. Each role is a separate
 * service.
 */
export function toOtlpTraces(shown: CardsOrRecording, options: TraceExportOptions = {}): JsonObject {
  const spans = toTraceSpans(shown, options);
  const version = toRecording(shown).run?.code;
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
 * Converts milliseconds since 1970 into nanoseconds. Negative times become 0.
 * A JavaScript number cannot represent nanoseconds exactly. It can represent microseconds until the year
 * 2255.
 */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.max(0, Math.round(ms * 1_000))) * 1_000n);
}
