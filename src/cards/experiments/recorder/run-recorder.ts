import { defineOptionNames, omitUndefined, pickOptions } from "../../../base/usage-checks/index.ts";
import {
  decodeTrafficLineJson,
  type ModelLine,
  type RunEndLine,
  type RunLine,
  type ScoreLine,
  type SkipLine,
  type TrafficLine,
  type TrafficLineInput,
} from "../../../observe/trace/index.ts";
import { createTrafficWriter, type TrafficWriter } from "../../../observe/trace/recording/index.ts";
import { A2AError, type JsonObject, isSameJson } from "../../../protocol/index.ts";
import {
  type CardRecorder,
  type CardRecordInput,
  computeTokenPrice,
  convertUsageToTokenCounts,
  listCardJson,
  type MessageCard,
  toDict,
  type TokenTariff,
  decodeRecording,
  type Recording,
  toJson,
} from "../../index.ts";
import { existsSync, readFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileSinkOptions, openFileSink, type RunSink } from "./file-sink.ts";
import { randomUUID } from "node:crypto";

/** Names of the members that the writer adds to each line. */
type WriterMember = "v" | "kind" | "writer" | "seq" | "at" | "mono_ms" | "traceparent";

/** Run line of an experiment run, except for the members that the writer adds. */
export type RunRecordInput = Omit<RunLine, WriterMember>;
/** Score line of a problem, except for the members that the writer adds. */
export type ScoreRecordInput = Omit<ScoreLine, WriterMember>;
/** Skip line of a problem, except for the members that the writer adds. */
export type SkipRecordInput = Omit<SkipLine, WriterMember>;

/** A recorder that controllers use to record runs and scores in addition to message cards. */
export interface RunRecorder extends CardRecorder {
  /**
   * Writer for the requests of the roles. Pass it as `connectOptions.record` to `serveRoles` and `createController`, so
   * that the record contains the messages that carry the cards.
   */
  readonly writer: TrafficWriter;
  /**
   * Records that an experiment run starts or resumes. Call `startRun` before any other method of the
   * recorder.
   */
  startRun(input: RunRecordInput): void;
  /**
   * Records the score of a problem and returns whether the sink stored the score line. A problem with a
   * stored score line counts as finished.
   */
  recordSampleScore(input: ScoreRecordInput): boolean;
  /** Records that the run skips a problem, and returns whether the sink stored the skip line. */
  recordSkippedSample(input: SkipRecordInput): boolean;
  /** Records the end of an experiment run. */
  endRun(status: RunEndLine["status"]): void;
  /** Whether record lines were lost. */
  readonly isDegraded: boolean;
}

/** Options of `createRunRecorder`. */
export interface RunRecorderOptions {
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns the time of a monotonic clock in milliseconds. Default: `performance.now`. */
  readonly monotonicNow?: () => number;
  /** Prices of tokens. With a tariff, the line of each model call with known tokens contains the price of the call. */
  readonly tariff?: TokenTariff;
  /** Replaces secrets in the JSON text of a line. By default, the writer redacts common forms of secrets. */
  readonly redact?: (jsonText: string) => string;
  /**
   * Called once, with the cause, when the first record line is lost. The end line of the run also reports
   * lost record lines.
   */
  readonly onDegraded?: (cause: unknown) => void;
}

const assertKnownOptions = defineOptionNames<RunRecorderOptions>()(
  "createRunRecorder",
  "monotonicNow now onDegraded redact tariff",
);

/** Bodies of runs are not shortened, because a shortened message card is no card. */
const MAX_BODY_LENGTH = 8 * 2 ** 20;

/** Creates a recorder of a run that writes to a sink, for example to `openFileSink(path)`. */
export function createRunRecorder(sink: RunSink, options: RunRecorderOptions = {}): RunRecorder {
  assertKnownOptions(options);
  const { tariff, onDegraded } = options;
  /** Cards that the record contains. */
  const recordedCardIds = new Set<string>();
  /** Reported cards of unfinished problems that no recorded message contains so far. */
  const uncarried = new Map<string | undefined, Map<string, CardRecordInput>>();
  let runId = "";
  let samples = 0;
  let isDegraded = false;
  const writer = createTrafficWriter(sink, {
    ...pickOptions<RunRecorderOptions>(options, "now monotonicNow redact"),
    vantage: "client",
    name: "controller",
    frames: false,
    maxBodyLength: MAX_BODY_LENGTH,
    onLoss: (cause) => {
      isDegraded = true;
      onDegraded?.(cause);
    },
  });
  writer.subscribe((text) => {
    for (const json of listCardJson(JSON.parse(text) as TrafficLine)) {
      const { metadata } = json as unknown as Partial<MessageCard>;
      if (typeof metadata?.card_id !== "string") continue;
      recordedCardIds.add(metadata.card_id);
      uncarried.get(metadata.sample_id)?.delete(metadata.card_id);
    }
  });
  const isRecorded = ({ metadata: { card_id } }: MessageCard): boolean =>
    card_id !== undefined && recordedCardIds.has(card_id);
  /** Writes the cards of a problem that no recorded message contains, such as cards for agents that read plain text. */
  const writeUncarriedCards = (sampleId: string | undefined): void => {
    const cards = uncarried.get(sampleId)?.values() ?? [];
    uncarried.delete(sampleId);
    for (const { run_id, sample_id, at_role: agent, a2a: { task_id, context_id } = {}, card } of cards) {
      if (isRecorded(card)) continue;
      const ids = omitUndefined({ sample_id, task_id, context_id });
      writer.write({ kind: "card", run_id, agent, ...ids, card: toDict(card) as unknown as JsonObject });
    }
  };
  const sync = (): void => {
    try {
      sink.sync?.();
    } catch {
      isDegraded = true;
    }
  };
  const finishSample = (line: TrafficLineInput, sampleId: string): boolean => {
    writeUncarriedCards(sampleId);
    const isKept = writer.write(line);
    if (isKept) samples += 1;
    sync();
    return isKept;
  };
  return {
    writer,
    get isDegraded() {
      return isDegraded;
    },
    startRun: (input) => {
      runId = input.run_id;
      writer.write({ kind: "run", ...input });
    },
    recordCard: (input) => {
      // A message of another client, such as a health check, belongs to no run.
      if (input.run_id === "" || isRecorded(input.card)) return;
      runId ||= input.run_id;
      const cards = uncarried.get(input.sample_id) ?? new Map<string, CardRecordInput>();
      uncarried.set(input.sample_id, cards);
      const key = input.card.metadata.card_id ?? JSON.stringify(toDict(input.card));
      if (!cards.has(key)) cards.set(key, input);
    },
    recordModelCall: (input) => {
      if (input.run_id === "") return;
      const { role: agent, card_id: message_id, usage, finish: finish_reason, ...line } = input;
      const { source, ...tokens } = usage;
      const isKnown = source !== "none";
      writer.write({
        kind: "model",
        call: writer.createCallId(),
        agent,
        message_id,
        ...line,
        duration_ms: Math.round(input.duration_ms * 1_000) / 1_000,
        finish_reason,
        ...(isKnown && tokens),
        ...(source === "estimated" && { tokens_estimated: true }),
        ...(isKnown && tariff && { price: computeTokenPrice(convertUsageToTokenCounts(usage), tariff) }),
      } satisfies Omit<ModelLine, WriterMember> & { kind: "model" });
    },
    recordSampleScore: (input) => finishSample({ kind: "score", ...input }, input.sample_id),
    recordSkippedSample: (input) => finishSample({ kind: "skip", ...input }, input.sample_id),
    endRun: (status) => {
      for (const id of uncarried.keys()) writeUncarriedCards(id);
      writer.write({
        kind: "end",
        run_id: runId,
        status,
        cards: recordedCardIds.size,
        samples,
        ...(isDegraded && { recorder: "degraded" as const }),
      });
      sync();
    },
  };
}

/** Throws INVALID_PARAMS if the description of a run is invalid, because its ID becomes part of a file name. */
export function requireValidRun(run: RunRecordInput): void {
  const line = { v: 1, kind: "run", writer: "", seq: 1, at: new Date(0).toISOString(), mono_ms: 0, ...run };
  const decoded = decodeTrafficLineJson(line);
  if (decoded.type === "unreadable")
    throw new A2AError(
      "INVALID_PARAMS",
      `The description of the run is invalid: ${decoded.reason.replace(/^run line: /, "")}.`,
    );
}

/** Creates a sink that stores lines in memory, for tests and for runs without a file. `text()` returns all lines. */
export function createMemorySink(): RunSink & { text(): string } {
  let text = "";
  return {
    isSynchronous: true,
    write(lines, header) {
      text += text.includes(header) ? lines : `${header}${lines}`;
    },
    close: () => {},
    text: () => text,
  };
}

/** Options for `openRunFile`. */
export interface OpenRunFileOptions extends RunRecorderOptions, FileSinkOptions {
  /** Folder of the record file. Default: `results`. */
  readonly outputFolder?: string;
  /**
   * Whether to continue the run if its record file exists. If `resume` is `false` and the record file exists,
   * `openRunFile` throws. Default: `false`.
   */
  readonly resume?: boolean;
}

const assertKnownRunFileOptions = defineOptionNames<OpenRunFileOptions>()(
  "openRunFile",
  "fsync monotonicNow now onDegraded outputFolder redact resume tariff",
);

/**
 * An open record file for an experiment run. The path of the file is `<outputFolder>/<run_id>.cards.jsonl`.
 */
export interface RunFile extends Omit<RunRecorder, "startRun"> {
  /** Path of the record file. */
  readonly path: string;
  /**
   * IDs of the problems that were scored or skipped before the run was resumed. A resumed run starts all unfinished
   * problems again, even if the record file contains their message cards.
   */
  readonly doneSampleIds: ReadonlySet<string>;
  /** Reads and decodes the current content of the record file. */
  readRecording(): Recording;
  /** Writes the end line of the run, closes the record file, and releases the lock of the file. */
  endRun(status: "completed" | "interrupted" | "failed"): void;
}

/**
 * Opens the record file of an experiment run, locks the file, and writes a run line. With the option `resume`,
 * an interrupted run continues, even after `kill -9`. A resumed run must match the description in the run line
 * of the existing file. Throws `INVALID_PARAMS` if the descriptions differ, if the record file exists but
 * `resume` is not set, or if only the list of the run's message cards exists. Throws `INVALID_REQUEST` if
 * another process writes to the record file.
 */
export function openRunFile(run: RunRecordInput, options: OpenRunFileOptions = {}): RunFile {
  assertKnownRunFileOptions(options);
  const { outputFolder = "results", resume = false, fsync = false, ...recorderOptions } = options;
  requireValidRun(run);
  const file = join(outputFolder, `${run.run_id}.cards.jsonl`);
  const cardListFile = join(outputFolder, formatCardListFileName(run.run_id));
  if (!existsSync(file) && existsSync(cardListFile))
    throw createRunFileConflictError(
      file,
      `${cardListFile} exists, so another run has this id`,
      "move that file, or use another run id",
    );
  const sink = openFileSink(file, { fsync });
  try {
    const text = readFileSync(file, "utf8");
    // A file without a complete line belongs to a process that was killed before its first line.
    const existing = text.includes("\n") ? decodeRecording(text, file, { runId: run.run_id }) : undefined;
    if (existing && !resume)
      throw createRunFileConflictError(
        file,
        "the file already exists",
        "pass resume (--resume) to continue the run, or use another run id",
      );
    if (existing?.run) requireSameRun(existing.run, run, file);
    const recorder = createRunRecorder(sink, recorderOptions);
    recorder.startRun(run);
    return {
      ...recorder,
      path: file,
      doneSampleIds: existing?.finishedSampleIds ?? new Set(),
      get isDegraded() {
        return recorder.isDegraded;
      },
      readRecording: () => decodeRecording(readFileSync(file, "utf8"), file, { runId: run.run_id }),
      endRun: (status) => {
        recorder.endRun(status);
        sink.close();
      },
    };
  } catch (error) {
    sink.close();
    throw error;
  }
}

/**
 * Members of a run line that may change when a run is resumed, such as the time and the version of Colloquy.
 */
const RUN_FIELDS_CHANGEABLE_ON_RESUME: ReadonlySet<string> = new Set<keyof RunLine>([
  "v",
  "kind",
  "writer",
  "seq",
  "at",
  "mono_ms",
  "code",
  // A resumed run with a cassette replays the answers that it recorded.
  "evidence",
]);

const FIELDS_ADDED_LATER: ReadonlySet<string> = new Set<keyof RunLine>(["prompts_sha256", "servers"]);

function requireSameRun(existing: RunLine, now: RunRecordInput, file: string): void {
  const earlier = new Map<string, unknown>(Object.entries(existing));
  const later = new Map<string, unknown>(Object.entries(now));
  for (const name of new Set([...earlier.keys(), ...later.keys()])) {
    // Records of earlier versions lack some members.
    const isAdded = FIELDS_ADDED_LATER.has(name) && !earlier.has(name);
    if (
      isAdded ||
      RUN_FIELDS_CHANGEABLE_ON_RESUME.has(name) ||
      isSameJson(earlier.get(name), later.get(name))
    )
      continue;
    throw createRunFileConflictError(
      file,
      `its ${name} is ${formatRunFieldValue(earlier.get(name))}, but this run has ${formatRunFieldValue(later.get(name))}`,
      "continue with the same options, or use another run id",
    );
  }
}

function formatRunFieldValue(value: unknown): string {
  const text = Array.isArray(value) ? `a list of ${value.length}` : (JSON.stringify(value) ?? "not set");
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function createRunFileConflictError(file: string, reason: string, action: string): A2AError {
  return new A2AError("INVALID_PARAMS", `Cannot write to ${file}: ${reason}. To do: ${action}.`);
}

/**
 * Writes the message cards of a run, in the format of the card specification, to
 * `<outputFolder>/<run_id>_cards.json`. Returns the path of the written file. Default of `outputFolder`:
 * `results`.
 */
export function writeMessageCardListFile(recording: Recording, outputFolder = "results"): string {
  const runId = recording.runId ?? "unknown";
  const file = join(outputFolder, formatCardListFileName(runId));
  mkdirSync(outputFolder, { recursive: true });
  // The file is renamed into place, so that a reader never sees an incomplete file.
  const temporary = `${file}.${randomUUID()}`;
  const cards = recording.cards.map((card) => toJson(card));
  writeFileSync(temporary, cards.length > 0 ? `[\n${cards.join(",\n")}\n]\n` : "[]\n", { flag: "wx" });
  renameSync(temporary, file);
  return file;
}

/**
 * Returns the name of the file with a run's message cards, such as `gsm8k_a2a_claude_cards.json` for the run
 * `gsm8k_a2a_claude`. The name contains the run ID, so that no run replaces the file of another run.
 */
function formatCardListFileName(runId: string): string {
  return `${runId}_cards.json`;
}
