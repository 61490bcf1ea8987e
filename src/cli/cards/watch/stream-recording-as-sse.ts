import { type RecordLine } from "../../../cards/index.ts";
import { decodeRecordLine } from "../../../cards/index.ts";
import { A2AError } from "../../../protocol/index.ts";
import { followFile, type FileIdAndOffset } from "./follow-file.ts";

/** Text of one server-sent event for the watch page. */
type FormattedSseEvent = string;

/**
 * Yields the lines of a recording as server-sent events, starting after `lastEventId`. A `lines` event
 * contains decoded lines. A `torn` event contains the number of unreadable lines. A `reset` event restarts
 * the watch page. The event stream contains only the run `runId`, or by default only the first run in the
 * recording. The function calls `foreign` once for each other run in the recording.
 */
export async function* streamRecordingAsSse(
  file: string,
  signal: AbortSignal,
  options: {
    readonly runId?: string;
    readonly lastEventId?: string;
    readonly foreign?: (runId: string) => void;
  } = {},
): AsyncGenerator<FormattedSseEvent, void, undefined> {
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
      const line = decodeWatchedRecordLine(text);
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
    // Also sent without lines, so that a reconnecting page skips lines that it does not need.
    yield formatSseEvent("lines", JSON.stringify(lines), formatEventId(found.position, runId));
  }
}

function decodeWatchedRecordLine(text: string): RecordLine | "torn" | "foreign" {
  if (text.trim() === "") return "foreign";
  try {
    const line = decodeRecordLine(text, "");
    return typeof line === "object" && "torn" in line ? "torn" : line;
  } catch (error) {
    if (error instanceof A2AError) return "torn";
    throw error;
  }
}

function formatSseEvent(event: string, data: string, id?: string): FormattedSseEvent {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

function formatEventId({ fileId, offset }: FileIdAndOffset, runId: string | undefined): string {
  return [fileId, offset, runId ?? ""].join("/");
}

function parseEventId(id: string | undefined): { place: FileIdAndOffset; runId?: string } | undefined {
  const [, file = "", offset = "", runId = ""] = /^(\d+-\d+)\/(\d+)\/([\w.:-]*)$/.exec(id ?? "") ?? [];
  if (file === "") return undefined;
  return { place: { fileId: file, offset: Number(offset) }, ...(runId !== "" && { runId }) };
}
