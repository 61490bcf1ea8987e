import { type RecordLine } from "../../../cards/index.ts";
import { decodeRecordLine } from "../../../cards/index.ts";
import { A2AError } from "../../../protocol/index.ts";
import { followFile, type FilePosition } from "./follow-file.ts";

/** What the page of a watched file is told: an event of an event stream, as text. */
export type SseEventText = string;

/**
 * The lines of a record as events, from `lastEventId` on: `lines` with decoded ones, `torn` with how many could not be
 * read, `reset` when the page has to begin again. Only lines of one run: of `runId`, or of the first in the file; of
 * others `foreign` is told, once for each.
 */
export async function* streamRecordEvents(
  file: string,
  signal: AbortSignal,
  options: {
    readonly runId?: string;
    readonly lastEventId?: string;
    readonly foreign?: (runId: string) => void;
  } = {},
): AsyncGenerator<SseEventText, void, undefined> {
  const from = parseEventId(options.lastEventId);
  const others = new Set<string>();
  let runId = options.runId ?? from?.runId;
  for await (const found of followFile(file, signal, from?.place)) {
    if (found === "reset") {
      runId = options.runId;
      yield formatSseEvent("reset", "");
      continue;
    }
    const lines: RecordLine[] = [];
    let torn = 0;
    for (const text of found.lines) {
      const line = decodeWatchedLine(text);
      if (line === "torn") torn += 1;
      else if (line !== "foreign") {
        runId ??= line.run_id;
        if (line.run_id === runId) lines.push(line);
        else if (!others.has(line.run_id)) {
          others.add(line.run_id);
          options.foreign?.(line.run_id);
        }
      }
    }
    if (torn > 0) yield formatSseEvent("torn", String(torn));
    // Also without lines: whoever comes again need not read what was of no use.
    yield formatSseEvent("lines", JSON.stringify(lines), formatEventId(found.position, runId));
  }
}

function decodeWatchedLine(text: string): RecordLine | "torn" | "foreign" {
  if (text.trim() === "") return "foreign";
  try {
    const line = decodeRecordLine(text, "");
    return typeof line === "object" && "torn" in line ? "torn" : line;
  } catch (error) {
    if (error instanceof A2AError) return "torn";
    throw error;
  }
}

function formatSseEvent(event: string, data: string, id?: string): SseEventText {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

function formatEventId({ fileId: file, offset }: FilePosition, runId: string | undefined): string {
  return [file, offset, runId ?? ""].join("/");
}

function parseEventId(id: string | undefined): { place: FilePosition; runId?: string } | undefined {
  const [, file = "", offset = "", runId = ""] = /^(\d+-\d+)\/(\d+)\/([\w.:-]*)$/.exec(id ?? "") ?? [];
  if (file === "") return undefined;
  return { place: { fileId: file, offset: Number(offset) }, ...(runId !== "" && { runId }) };
}
