import { isObject, type JsonObject } from "../../protocol/index.ts";
import { findTrafficLineViolation, isTrafficLineKind } from "./traffic-line-rules.ts";
import type { TrafficLine } from "./traffic-line-types.ts";

/**
 * A decoded line of a record file. `other` is a line of another format, of a later version, or of a run that an earlier
 * version recorded. `unreadable` is a torn or invalid line, with the reason.
 */
export type DecodedTrafficLine =
  | { readonly type: "traffic"; readonly line: TrafficLine }
  | { readonly type: "other"; readonly json: JsonObject }
  | { readonly type: "unreadable"; readonly reason: string };

/** Decodes one line of a record file. Never throws. Unknown members of a line are kept. */
export function decodeTrafficLine(text: string): DecodedTrafficLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    return { type: "unreadable", reason: cause instanceof Error ? cause.message : String(cause) };
  }
  return decodeTrafficLineJson(json);
}

/** Decodes a line that is already parsed as JSON, for example an element of an embedded record. Never throws. */
export function decodeTrafficLineJson(json: unknown): DecodedTrafficLine {
  if (!isObject(json)) return { type: "unreadable", reason: "the line is not a JSON object" };
  const { v, kind } = json;
  if (v !== 1 || !isTrafficLineKind(kind)) return { type: "other", json };
  // Earlier versions recorded message cards in lines of these kinds without a writer.
  if (json["writer"] === undefined && typeof json["run_id"] === "string") return { type: "other", json };
  const violation = findTrafficLineViolation(kind, json);
  if (violation !== undefined) return { type: "unreadable", reason: `${kind} line: ${violation}` };
  return { type: "traffic", line: json as unknown as TrafficLine };
}

/** Decodes the complete text of a record, and returns its traffic lines. */
export function decodeTrafficLines(text: string): TrafficLine[] {
  return text.split("\n").flatMap((one) => {
    const decoded = one === "" ? undefined : decodeTrafficLine(one);
    return decoded?.type === "traffic" ? [decoded.line] : [];
  });
}
