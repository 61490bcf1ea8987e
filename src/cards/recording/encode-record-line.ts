import { toDict } from "../message-card/index.ts";
import type { RecordLine } from "./record-line-types.ts";

/**
 * Encodes a record line as one line of JSON with a newline at the end. The encoder writes only the six
 * defined members of a message card.
 */
export function encodeRecordLine(line: RecordLine): string {
  // The kind and the time come first and the card last, so that the file is easy to read.
  if (line.kind === "card") {
    const { v, kind, run_id, at, seq, mono_ms, card, ...rest } = line;
    return formatJsonLine({ v, kind, run_id, at, seq, mono_ms, ...rest, card: toDict(card) });
  }
  const { v, kind, run_id, at, ...rest } = line;
  return formatJsonLine({ v, kind, run_id, at, ...rest });
}

function formatJsonLine(line: object): string {
  return `${JSON.stringify(line)}\n`;
}
