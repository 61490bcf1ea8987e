import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { existsSync, readFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeRecording, type Recording, type RunLine, toJson } from "../../index.ts";
import { A2AError, isSameJson } from "../../../protocol/index.ts";
import { openFileSink, type FileSinkOptions } from "./file-sink.ts";
import {
  createRunRecorder,
  requireValidRun,
  type RunRecorder,
  type RunRecorderOptions,
  type RunRecordInput,
} from "./run-recorder.ts";
import { randomUUID } from "node:crypto";

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

const assertKnownOptions = defineOptionNames<OpenRunFileOptions>()(
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
  assertKnownOptions(options);
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
