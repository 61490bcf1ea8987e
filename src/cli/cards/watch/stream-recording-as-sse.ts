import { decodeRecordLines, findLineCards } from "../../../cards/index.ts";
import { SharedTextDecoder, type TrafficLine } from "../../../observe/trace/index.ts";
import { followFile } from "./follow-file.ts";

/** Text of one server-sent event for the watch page. */
type FormattedSseEvent = string;

/**
 * Yields the lines of a record as server-sent events. The first event is a `reset`, because a page that connects again
 * receives all lines again. A `lines` event contains decoded lines. A `torn` event contains the number of unreadable
 * lines. The function calls `foreign` once for each run of the record other than `runId`, which is the first run by
 * default.
 */
export async function* streamRecordingAsSse(
  file: string,
  signal: AbortSignal,
  options: { readonly runId?: string; readonly foreign?: (runId: string) => void } = {},
): AsyncGenerator<FormattedSseEvent, void, undefined> {
  const others = new Set<string>();
  let texts = new SharedTextDecoder();
  let { runId } = options;
  yield formatSseEvent("reset", "");
  for await (const found of followFile(file, signal)) {
    if (found === "reset") {
      ({ runId } = options);
      texts = new SharedTextDecoder();
      yield formatSseEvent("reset", "");
      continue;
    }
    const lines: TrafficLine[] = [];
    let torn = 0;
    for (const { line } of decodeRecordLines(found.lines, texts)) {
      if ("torn" in line) {
        torn += 1;
        continue;
      }
      const lineRunId = findLineRunId(line);
      runId ??= lineRunId;
      if (lineRunId === undefined || lineRunId === runId) lines.push(line);
      else if (!others.has(lineRunId)) {
        others.add(lineRunId);
        options.foreign?.(lineRunId);
      }
    }
    if (torn > 0) yield formatSseEvent("torn", String(torn));
    if (lines.length > 0) yield formatSseEvent("lines", JSON.stringify(lines));
  }
}

/** Returns the ID of the run to which a line or its message card belongs. */
function findLineRunId(line: TrafficLine): string | undefined {
  return "run_id" in line ? line.run_id : findLineCards(line)[0]?.metadata.run_id;
}

function formatSseEvent(event: string, data: string): FormattedSseEvent {
  return `event: ${event}\ndata: ${data}\n\n`;
}
