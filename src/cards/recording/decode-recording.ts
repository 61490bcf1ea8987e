import { A2AError } from "../../protocol/index.ts";
import { decodeTrafficLine, SharedTextDecoder, type TrafficLine } from "../../observe/trace/index.ts";
import { decodeEarlierLine } from "./decode-earlier-line.ts";
import { type Recording, RecordingBuilder, type TornLine } from "./recording.ts";

/** Options of `decodeRecording`. */
interface DecodeRecordingOptions {
  /** ID of the experiment run to decode. `runId` is required if a record file contains several runs. */
  readonly runId?: string;
}

/** The text or the lines of a record file. */
export interface RecordFile {
  /** Name of the file for error messages. */
  readonly file: string;
  readonly source: string | Iterable<string>;
}

/**
 * Decodes an experiment run from the text or the lines of its record file. `file` is the file name in error messages.
 * `torn` lists unreadable lines, which a killed writer can leave in the file. Throws INVALID_PARAMS if the file contains
 * no run and no message card, or if the file contains several runs and `runId` is missing.
 */
export function decodeRecording(
  source: string | Iterable<string>,
  file: string,
  options: DecodeRecordingOptions = {},
): Recording {
  return decodeRecordFiles([{ file, source }], options);
}

/**
 * Decodes an experiment run from the record files of several processes. The lines are ordered by the wall clocks of the
 * processes.
 */
export function decodeRecordFiles(
  files: readonly RecordFile[],
  { runId }: DecodeRecordingOptions = {},
): Recording {
  const recording = new RecordingBuilder(runId);
  const torn: TornLine[] = [];
  const linesByFile = files.map((file) => decodeLines(file, torn));
  // Run lines of other files would start another attempt.
  const main = linesByFile.find((lines) => lines.some(({ kind }) => kind === "run"));
  const lines = linesByFile.flatMap((lines) =>
    lines === main ? lines : lines.filter(({ kind }) => kind !== "run"),
  );
  const isSorted = files.length < 2;
  for (const line of isSorted ? lines : lines.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)))
    recording.add(line);
  recording.torn = torn;
  requireSingleRun(recording, files.map(({ file }) => file).join(", "), runId);
  return recording;
}

/** Decodes one line of a record with its complete texts. Returns `undefined` for a line of another format. */
export function decodeRecordLine(text: string): TrafficLine | { readonly torn: string } | undefined {
  const decoded = decodeTrafficLine(text);
  if (decoded.type === "traffic") return decoded.line;
  return decoded.type === "other" ? decodeEarlierLine(decoded.json) : { torn: decoded.reason };
}

/**
 * Decodes the lines of a record with their numbers, which start at 1. Lines of another format are skipped. `texts` keeps
 * the texts that later lines share.
 */
export function* decodeRecordLines(
  source: string | Iterable<string>,
  texts: SharedTextDecoder = new SharedTextDecoder(),
): Generator<{ readonly number: number; readonly line: TrafficLine | { readonly torn: string } }, void> {
  let number = 0;
  for (const raw of typeof source === "string" ? splitLines(source) : source) {
    number += 1;
    const text = texts.decode(raw);
    const line = text === undefined || text.trim() === "" ? undefined : decodeRecordLine(text);
    if (line) yield { number, line };
  }
}

function decodeLines({ file, source }: RecordFile, torn: TornLine[]): TrafficLine[] {
  const lines: TrafficLine[] = [];
  /** Unreadable lines after the last line of a process. */
  let pending: Omit<TornLine, "last">[] = [];
  const settle = (last: boolean): void => {
    for (const one of pending) torn.push({ ...one, last });
    pending = [];
  };
  for (const { number, line } of decodeRecordLines(source)) {
    if ("torn" in line) {
      pending.push({ file, line: number, why: line.torn });
      continue;
    }
    // Each process begins with a writer line, or in earlier versions with a run line.
    settle(line.kind === "writer" || line.kind === "run");
    lines.push(line);
  }
  settle(true);
  return lines;
}

function requireSingleRun(recording: RecordingBuilder, file: string, runId: string | undefined): void {
  const { otherRunIds, samples, run, ends } = recording;
  const names = [...new Set([recording.runId, ...otherRunIds])].filter((id) => id !== runId).join(", ");
  const createError = (what: string): A2AError => new A2AError("INVALID_PARAMS", `${file}: ${what}`);
  const isEmpty = run === undefined && samples.length === 0 && ends.length === 0;
  if (runId !== undefined && isEmpty)
    throw createError(`run ${runId} not found. To do: select one of ${names}.`);
  if (isEmpty)
    throw createError(
      "no run and no message card found. To do: name a record with message cards (.cards.jsonl).",
    );
  if (runId === undefined && otherRunIds.size > 0)
    throw createError(`the file contains several runs. To do: select one of ${names}.`);
}

/** Yields lines individually, because a list of all lines would hold a second copy of the file in memory. */
function* splitLines(text: string): Iterable<string> {
  let from = text.startsWith("\uFEFF") ? 1 : 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    const until = end < 0 ? text.length : end;
    yield text.slice(from, until);
    from = until + 1;
  }
}
