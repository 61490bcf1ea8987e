import { toDict } from "../card/index.ts";
import type { RecordLine } from "./lines.ts";

/** A line of the record as it is in a file: JSON on one line, its newline included. A card in it has its six members. */
export function encodeLine(line: RecordLine): string {
  // `v`, `kind` and the run come first, for whoever looks into the file.
  const { v, kind, run_id, ...rest } = line;
  const written = line.kind === "card" ? { ...rest, card: toDict(line.card) } : rest;
  return `${JSON.stringify({ v, kind, run_id, ...written })}\n`;
}
