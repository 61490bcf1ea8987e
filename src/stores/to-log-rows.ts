import type { LogEvent } from "../protocol/index.ts";

/** Size in characters of JSON from which artifacts are stored in their own rows. About a page of the database. */
const MIN_SEPARATED_ARTIFACT_SIZE = 4096;
/** Beginning of the JSON text of each artifact event. */
const ARTIFACT_EVENT_PREFIX = '{"artifactUpdate"';

/** A row of the table `log`. `seq` is the sequence number of the last event in `lines`. */
interface LogRow {
  readonly seq: number;
  readonly lines: string;
  /** True if all events of the row are artifact events. A task list without artifacts skips the row. */
  readonly hasOnlyArtifacts: boolean;
}

/**
 * Converts the events of one append to rows. An append is one row, because rows are expensive. Large artifacts
 * and the events between them are separate rows, so that the store can read a task without its artifacts. A row of
 * several events has at most `maxRowBytes` bytes.
 */
export function toLogRows(events: readonly LogEvent[], maxRowBytes: number = Infinity): LogRow[] {
  if (events.length === 0) return [];
  let artifactSize = 0;
  let otherCount = 0;
  for (const { jsonText } of events) {
    if (isArtifactEventText(jsonText)) artifactSize += jsonText.length;
    else otherCount++;
  }
  const isOneRun = otherCount === 0 || artifactSize < MIN_SEPARATED_ARTIFACT_SIZE;
  if (isOneRun && maxRowBytes === Infinity) return [toLogRow(events, otherCount === 0)];
  const runs = isOneRun ? [events] : groupByKind(events);
  return runs
    .flatMap((run) => splitBySize(run, maxRowBytes))
    .map((part) => toLogRow(part, part.every(isArtifactEvent)));
}

/** Returns true for the JSON text of a stored artifact event, without parsing the text. */
export function isArtifactEventText(jsonText: string): boolean {
  return jsonText.startsWith(ARTIFACT_EVENT_PREFIX);
}

function isArtifactEvent({ jsonText }: LogEvent): boolean {
  return isArtifactEventText(jsonText);
}

/** Splits the events into runs of artifact events and runs of other events. */
function groupByKind(events: readonly LogEvent[]): LogEvent[][] {
  const runs: LogEvent[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0] && isArtifactEvent(run[0]) === isArtifactEvent(event)) run.push(event);
    else runs.push([event]);
  }
  return runs;
}

/** Splits the events into consecutive parts. A part with several events has at most `maxBytes` bytes. */
function splitBySize(events: readonly LogEvent[], maxBytes: number): LogEvent[][] {
  const parts: LogEvent[][] = [];
  let bytes = 0;
  for (const event of events) {
    const size = Buffer.byteLength(event.jsonText) + 1;
    const part = parts.at(-1);
    if (part && bytes + size <= maxBytes) {
      part.push(event);
      bytes += size;
    } else {
      parts.push([event]);
      bytes = size;
    }
  }
  return parts;
}

function toLogRow(events: readonly LogEvent[], hasOnlyArtifacts: boolean): LogRow {
  const seq = (events.at(-1) as LogEvent).seq;
  let lines = "";
  for (const { jsonText } of events) lines += lines === "" ? jsonText : `\n${jsonText}`;
  return { seq, lines, hasOnlyArtifacts };
}
