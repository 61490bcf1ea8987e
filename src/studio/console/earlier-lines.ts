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
): AsyncGenerator<string, void, undefined> {
  await record.flush();
  const reads = new ConsoleReadFilter();
  for await (const decoded of readTrafficFile(file, { lastBytes: DEFAULT_JOURNAL_LENGTH })) {
    if (decoded.type !== "traffic" || reads.isConsoleRead(decoded.line)) continue;
    yield JSON.stringify(toConsoleLine(prices ? priceTrafficLine(decoded.line, prices) : decoded.line));
  }
}

function toConsoleLine(line: TrafficLine): TrafficLine {
  if (line.kind !== "event") return line;
  const { task_id, log_seq: seq, at } = line;
  return { ...line, writer: `log-${task_id}`, seq, mono_ms: Date.parse(at) };
}
