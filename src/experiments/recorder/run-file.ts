import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createRecorder,
  decodeRecording,
  type Recording,
  type RecorderOptions,
  type RunLine,
  type RunRecorder,
  type RunSeen,
} from "../../cards/index.ts";
import { doneSamples, readLine } from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { fileSink, type FileSinkOptions } from "./file-sink.ts";

export interface RunFileOptions extends RecorderOptions, FileSinkOptions {
  /** The folder. Default `results`. */
  readonly out?: string;
  /** Goes on with the run, when its file is there. Default false: a file that is there is refused. */
  readonly resume?: boolean;
}

/** The record of a run in its file, `<out>/<run_id>.cards.jsonl`. */
export interface RunFile extends Omit<RunRecorder, "run"> {
  readonly file: string;
  /** The problems that are done, by earlier parts. All others are to be begun anew, also those that have cards. */
  readonly done: ReadonlySet<string>;
  /** All that the file has now, decoded. */
  read(): Recording;
  /** Writes the end line, closes the file and lets others write to it. */
  end(status: "completed" | "interrupted" | "failed"): void;
}

/**
 * Opens the file of a run, for this process alone, and begins a part of it. A run that was interrupted, by `kill -9` too,
 * goes on with `resume`: it must be the same run in all that counts. Throws INVALID_PARAMS when it is not, or when there is
 * a file and no `resume`; INVALID_REQUEST while another process writes to it.
 */
export function openRunFile(run: RunSeen, options: RunFileOptions = {}): RunFile {
  const { out = "results", resume = false } = options;
  // Also because the id becomes a name of a file.
  readLine({ v: 1, kind: "run", at: new Date(0).toISOString(), ...run }, "the run");
  const file = join(out, `${run.run_id}.cards.jsonl`);
  const sink = fileSink(file, options);
  try {
    const text = readFileSync(file, "utf8");
    // Else it was killed before it could say anything.
    const before = text.includes("\n") ? decodeRecording(text, file, { runId: run.run_id }) : undefined;
    if (before && !resume)
      throw refused(
        file,
        "it is there already",
        "pass resume (--resume) to go on with it, or take another run id",
      );
    if (before?.run) requireSameRun(before.run, run, file);
    const recorder = createRecorder(sink, { ...options, size: text.length });
    recorder.run(run);
    return {
      file,
      done: before ? doneSamples(before) : new Set(),
      get degraded() {
        return recorder.degraded;
      },
      card: (seen) => recorder.card(seen),
      call: (seen) => recorder.call(seen),
      score: (seen) => recorder.score(seen),
      read: () => decodeRecording(readFileSync(file, "utf8"), file, { runId: run.run_id }),
      end: (status) => {
        recorder.end(status);
        sink.close();
      },
    };
  } catch (error) {
    sink.close();
    throw error;
  }
}

/** What may differ between the parts of a run: when and by which release it was written. */
const FREE: ReadonlySet<string> = new Set<keyof RunLine>(["v", "kind", "at", "code"]);

function requireSameRun(before: RunLine, now: RunSeen, file: string): void {
  const earlier = new Map<string, unknown>(Object.entries(before));
  const later = new Map<string, unknown>(Object.entries(now));
  for (const name of new Set([...earlier.keys(), ...later.keys()])) {
    if (FREE.has(name) || same(earlier.get(name), later.get(name))) continue;
    throw refused(
      file,
      `its ${name} is ${short(earlier.get(name))}, and now it is to be ${short(later.get(name))}`,
      "go on with the same options, or take another run id",
    );
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

/** The order of members says nothing. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function short(value: unknown): string {
  const text = Array.isArray(value) ? `a list of ${value.length}` : (JSON.stringify(value) ?? "not said");
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function refused(file: string, why: string, action: string): A2AError {
  return new A2AError("INVALID_PARAMS", `Cannot write to ${file}: ${why}. To do: ${action}.`);
}
