import { existsSync } from "node:fs";
import { type ModelPrices, priceTrafficLine, type TrafficLine } from "../../observe/trace/index.ts";
import { readTrafficFile, type TrafficWriter } from "../../observe/trace/recording/index.ts";
import { ConsoleReadFilter } from "./console-reads.ts";
import { DEFAULT_JOURNAL_LENGTH } from "./line-journal.ts";

/**
 * Yields the newest lines in the record of a server, also those of earlier processes. The record identifies an event by
 * the process that wrote the line, and the console by the log of the task.
 */
export async function* readEarlierLines(
  record: TrafficWriter,
  file: string,
  prices: ModelPrices | undefined,
  hasStacks: boolean,
): AsyncGenerator<string, void, undefined> {
  await record.flush();
  // A user can delete the file while the server writes to it.
  if (!existsSync(file)) return;
  const reads = new ConsoleReadFilter();
  for await (const decoded of readTrafficFile(file, { lastBytes: DEFAULT_JOURNAL_LENGTH })) {
    if (decoded.type !== "traffic" || reads.isConsoleRead(decoded.line)) continue;
    const text = JSON.stringify(
      toConsoleLine(prices ? priceTrafficLine(decoded.line, prices) : decoded.line),
    );
    yield hasStacks ? text : removeStack(text);
  }
}

/** Removes the stack of an error from a line, because it shows the paths of the server. */
export function removeStack(text: string): string {
  if (!text.includes('"stack":')) return text;
  const { stack: _, ...line } = JSON.parse(text) as TrafficLine & { readonly stack?: string };
  return line.kind === "turn" ? JSON.stringify(line) : text;
}

function toConsoleLine(line: TrafficLine): TrafficLine {
  if (line.kind !== "event") return line;
  const { task_id, log_seq: seq, at } = line;
  return { ...line, writer: `log-${task_id}`, seq, mono_ms: Date.parse(at) };
}
