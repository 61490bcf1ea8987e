import { A2AError, isObject, type JsonObject, parseJsonOrUndefined } from "../../protocol/index.ts";
import {
  decodeTrafficLine,
  SharedTextDecoder,
  type TrafficLine,
  decodeTrafficLineJson,
} from "../../observe/trace/index.ts";
import { type Recording, RecordingBuilder, type TornLine } from "./recording.ts";
import { type MessageCard, parseCard, parseCardTime } from "../message-card/index.ts";
import { omitUndefined } from "../../base/usage-checks/index.ts";

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

/**
 * Creates a recording from a list of message cards, such as a file of the card specification. The times in
 * the recording are the timestamps of the message cards. The recording contains no run line, no model calls,
 * and no scores.
 */
export function createRecordingFromCards(cards: readonly MessageCard[]): Recording {
  const recording = new RecordingBuilder();
  // The order of a list is more reliable than timestamps.
  let sentMs = Number.NEGATIVE_INFINITY;
  for (const card of cards) {
    sentMs = Math.max(sentMs, parseCardTime(card));
    recording.addCard(card, sentMs);
  }
  return recording;
}

/**
 * Decodes a JSON array of message cards. Throws INVALID_PARAMS with the file name and the position of the
 * first invalid message card.
 */
export function decodeMessageCardArray(text: string, file: string): MessageCard[] {
  const list: unknown = parseJsonOrUndefined(text);
  if (!Array.isArray(list))
    throw new A2AError(
      "INVALID_PARAMS",
      `${file}: the file contains no JSON array. To do: enclose the cards in [ and ].`,
    );
  return list.map((json: unknown, index) => {
    try {
      return parseCard(json);
    } catch (cause) {
      const { message, violations } = A2AError.from(cause);
      throw new A2AError("INVALID_PARAMS", `${file}, card ${index + 1}: ${message}`, { cause, violations });
    }
  });
}

/** Kinds of lines in records of versions before 0.2, which were no traffic records. */
const EARLIER_KINDS: ReadonlySet<unknown> = new Set(["run", "card", "call", "score", "skip", "end"]);

/**
 * Decodes a line of a record of card runs from before such records were traffic records. Returns `undefined` for a line
 * of another format.
 */
function decodeEarlierLine(json: JsonObject): TrafficLine | { readonly torn: string } | undefined {
  if (json["v"] !== 1 || !EARLIER_KINDS.has(json["kind"])) return undefined;
  const decoded = decodeTrafficLineJson({
    writer: "earlier",
    seq: 0,
    mono_ms: 0,
    ...(json["kind"] === "card"
      ? convertCardLine(json)
      : json["kind"] === "call"
        ? convertCallLine(json)
        : json),
  });
  if (decoded.type === "traffic") return decoded.line;
  return { torn: decoded.type === "unreadable" ? decoded.reason : "the line is not a line of a record" };
}

function convertCardLine({ at_role, dir: _dir, a2a, ...line }: JsonObject): object {
  const { task_id, context_id } = isObject(a2a) ? a2a : {};
  return {
    ...line,
    agent: at_role,
    ...omitUndefined({ task_id, context_id }),
  };
}

function convertCallLine({ role, card_id, usage, finish, ...line }: JsonObject): object {
  const { source, ...tokens } = isObject(usage) ? usage : { source: "none" };
  return {
    ...line,
    kind: "model",
    call: card_id,
    agent: role,
    message_id: card_id,
    finish_reason: finish,
    ...(source !== "none" && tokens),
    ...(source === "estimated" && { tokens_estimated: true }),
  };
}
