import type { JsonObject } from "../../protocol/index.ts";
import { toRecording, type CardsOrRecording } from "../views/sample-exchanges.ts";
import { type TraceExportOptions, type TraceSpan, toTraceSpans } from "./trace-spans.ts";

/** The numbers of the kinds in OTLP. */
const OTLP_SPAN_KINDS: Readonly<Record<TraceSpan["kind"], number>> = { internal: 1, server: 2, client: 3 };
const OTLP_STATUS_ERROR = 2;

/**
 * The spans of a run as a request of OTLP/HTTP in JSON, as a collector takes it at `/v1/traces`: ids in hex, kinds as
 * numbers, times in nanoseconds as strings. Each role is a service of its own.
 */
export function toOtlpTraces(shown: CardsOrRecording, options: TraceExportOptions = {}): JsonObject {
  const spans = toTraceSpans(shown, options);
  const version = toRecording(shown).run?.code;
  const scope = { name: "colloquy", ...(version !== undefined && { version }) };
  return {
    resourceSpans: [...Map.groupBy(spans, ({ service }) => service)].map(([service, own]) => ({
      resource: { attributes: [toOtlpAttribute("service.name", service)] },
      scopeSpans: [{ scope, spans: own.map(toOtlpSpan) }],
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

/** Nanoseconds do not fit into a number of JavaScript; microseconds do until the year 2255. None is before 1970 in OTLP. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.max(0, Math.round(ms * 1_000))) * 1_000n);
}
