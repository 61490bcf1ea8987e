import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createRecorder,
  decodeRecording,
  type Recording,
  type RecorderOptions,
  type RunLine,
  type RunRecorder,
  type RunRecordInput,
} from "../../cards/index.ts";
import { collectScoredSampleIds, parseRecordLine } from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { openFileSink, type FileSinkOptions } from "./file-sink.ts";

export interface RunFileOptions extends RecorderOptions, FileSinkOptions {
  /** The folder. Default `results`. */
  readonly outputFolder?: string;
  /** Goes on with the run, when its file is there. Default false: a file that is there is refused. */
  readonly resume?: boolean;
}

/** The record of a run in its file, `<out>/<run_id>.cards.jsonl`. */
export interface RunFile extends Omit<RunRecorder, "startRun"> {
  readonly path: string;
  /** The problems that are done, by earlier parts. All others are to be begun anew, also those that have cards. */
  readonly doneSampleIds: ReadonlySet<string>;
  /** All that the file has now, decoded. */
  readRecording(): Recording;
  /** Writes the end line, closes the file and lets others write to it. */
  endRun(status: "completed" | "interrupted" | "failed"): void;
}

/**
 * Opens the file of a run, for this process alone, and begins a part of it. A run that was interrupted, by `kill -9` too,
 * goes on with `resume`: it must be the same run in all that counts. Throws INVALID_PARAMS when it is not, or when there is
 * a file and no `resume`; INVALID_REQUEST while another process writes to it.
 */
export function openRunFile(run: RunRecordInput, options: RunFileOptions = {}): RunFile {
  const { outputFolder = "results", resume = false } = options;
  // Also because the id becomes a name of a file.
  parseRecordLine({ v: 1, kind: "run", at: new Date(0).toISOString(), ...run }, "the run");
  const file = join(outputFolder, `${run.run_id}.cards.jsonl`);
  const sink = openFileSink(file, options);
  try {
    const text = readFileSync(file, "utf8");
    // Else it was killed before it could say anything.
    const existing = text.includes("\n") ? decodeRecording(text, file, { runId: run.run_id }) : undefined;
    if (existing && !resume)
      throw createWriteRefusedError(
        file,
        "it is there already",
        "pass resume (--resume) to go on with it, or take another run id",
      );
    if (existing?.run) requireSameRun(existing.run, run, file);
    const recorder = createRecorder(sink, { ...options, initialLength: text.length });
    recorder.startRun(run);
    return {
      path: file,
      doneSampleIds: existing ? collectScoredSampleIds(existing) : new Set(),
      get isDegraded() {
        return recorder.isDegraded;
      },
      recordCard: (record) => recorder.recordCard(record),
      recordModelCall: (record) => recorder.recordModelCall(record),
      recordScore: (record) => recorder.recordScore(record),
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

/** What may differ between the parts of a run: when and by which release it was written. */
const FIELDS_ALLOWED_TO_DIFFER: ReadonlySet<string> = new Set<keyof RunLine>(["v", "kind", "at", "code"]);

function requireSameRun(existing: RunLine, now: RunRecordInput, file: string): void {
  const earlier = new Map<string, unknown>(Object.entries(existing));
  const later = new Map<string, unknown>(Object.entries(now));
  for (const name of new Set([...earlier.keys(), ...later.keys()])) {
    if (FIELDS_ALLOWED_TO_DIFFER.has(name) || isSameJson(earlier.get(name), later.get(name))) continue;
    throw createWriteRefusedError(
      file,
      `its ${name} is ${formatValue(earlier.get(name))}, and now it is to be ${formatValue(later.get(name))}`,
      "go on with the same options, or take another run id",
    );
  }
}

function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sortMembers(a)) === JSON.stringify(sortMembers(b));
}

/** The order of members says nothing. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function formatValue(value: unknown): string {
  const text = Array.isArray(value) ? `a list of ${value.length}` : (JSON.stringify(value) ?? "not said");
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function createWriteRefusedError(file: string, reason: string, action: string): A2AError {
  return new A2AError("INVALID_PARAMS", `Cannot write to ${file}: ${reason}. To do: ${action}.`);
}
