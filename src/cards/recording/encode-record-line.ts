import { toDict } from "../message-card/index.ts";
import type { RecordLine } from "./record-lines.ts";

/** A line of the record as it is in a file: JSON on one line, its newline included. A card in it has its six members. */
export function encodeRecordLine(line: RecordLine): string {
  // What it is and when comes first and the card last, for whoever looks into the file.
  if (line.kind === "card") {
    const { v, kind, run_id, at, seq, mono_ms, card, ...about } = line;
    return formatJsonLine({ v, kind, run_id, at, seq, mono_ms, ...about, card: toDict(card) });
  }
  const { v, kind, run_id, at, ...about } = line;
  return formatJsonLine({ v, kind, run_id, at, ...about });
}

function formatJsonLine(line: object): string {
  return `${JSON.stringify(line)}\n`;
}
