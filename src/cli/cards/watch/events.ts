import { type RecordLine } from "../../../cards/index.ts";
import { decodeLine } from "../../../cards/index.ts";
import { A2AError } from "../../../protocol/index.ts";
import { follow, type Place } from "./follow.ts";

/** What the page of a watched file is told: an event of an event stream, as text. */
export type EventText = string;

/**
 * The lines of a record as events, from `lastEventId` on: `lines` with decoded ones, `torn` with how many could not be
 * read, `reset` when the page has to begin again. Only lines of one run: of `runId`, or of the first in the file; of
 * others `foreign` is told, once for each.
 */
export async function* recordEvents(
  file: string,
  signal: AbortSignal,
  options: {
    readonly runId?: string;
    readonly lastEventId?: string;
    readonly foreign?: (runId: string) => void;
  } = {},
): AsyncGenerator<EventText, void, undefined> {
  const from = placeOf(options.lastEventId);
  const others = new Set<string>();
  let runId = options.runId ?? from?.runId;
  for await (const found of follow(file, signal, from?.place)) {
    if (found === "reset") {
      runId = options.runId;
      yield eventOf("reset", "");
      continue;
    }
    const lines: RecordLine[] = [];
    let torn = 0;
    for (const text of found.lines) {
      const line = read(text);
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
    if (torn > 0) yield eventOf("torn", String(torn));
    // Also without lines: whoever comes again need not read what was of no use.
    yield eventOf("lines", JSON.stringify(lines), idOf(found.place, runId));
  }
}

function read(text: string): RecordLine | "torn" | "foreign" {
  if (text.trim() === "") return "foreign";
  try {
    const line = decodeLine(text, "");
    return typeof line === "object" && "torn" in line ? "torn" : line;
  } catch (error) {
    if (error instanceof A2AError) return "torn";
    throw error;
  }
}

function eventOf(event: string, data: string, id?: string): EventText {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

function idOf({ file, offset }: Place, runId: string | undefined): string {
  return [file, offset, runId ?? ""].join("/");
}

function placeOf(id: string | undefined): { place: Place; runId?: string } | undefined {
  const [, file = "", offset = "", runId = ""] = /^(\d+-\d+)\/(\d+)\/([\w.:-]*)$/.exec(id ?? "") ?? [];
  if (file === "") return undefined;
  return { place: { file, offset: Number(offset) }, ...(runId !== "" && { runId }) };
}
