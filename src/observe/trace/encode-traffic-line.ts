import type { TrafficLine } from "./traffic-line-types.ts";

/** Members of a line that the caller has as JSON text, such as `event` or `body`. */
export type RawTrafficMembers = Readonly<Record<string, string>>;

/**
 * Encodes a line as one line of JSON without a newline. `rawMembers` contains members as JSON text, which must not
 * contain a line end. The encoder does not parse the text.
 */
export function encodeTrafficLine(line: TrafficLine, rawMembers?: RawTrafficMembers): string {
  let text = JSON.stringify(line);
  if (!rawMembers) return text;
  text = text.slice(0, -1);
  for (const name in rawMembers) text += `,${JSON.stringify(name)}:${rawMembers[name]}`;
  return `${text}}`;
}
