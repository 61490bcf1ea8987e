import { A2AError } from "../../protocol/index.ts";
import {
  type SingleProcessRecordLines,
  selectFirstLinePerSample,
  selectAttemptPerSample,
} from "./run-attempt-selection.ts";
import { decodeRecordLine } from "./decode-record-line.ts";
import type { Recording, RecordLine, TornLine } from "./record-line-types.ts";
import { compareByTime, findWallToMonotonicOffset } from "./record-line-clocks.ts";

/** Options of `decodeRecording`. */
interface DecodeRecordingOptions {
  /** ID of the experiment run to decode. `runId` is required if a record file contains several runs. */
  readonly runId?: string;
}

/**
 * Decodes an experiment run from the text or the lines of its record file. `file` is the file name in error
 * messages. `torn` lists incomplete lines, which a killed writer can leave in the file. The decoder ignores
 * record lines of an unknown `kind`. Throws INVALID_PARAMS if a record line is invalid, if the file has no
 * record lines, or if the file contains several runs and `runId` is missing.
 */
export function decodeRecording(
  source: string | Iterable<string>,
  file: string,
  options: DecodeRecordingOptions = {},
): Recording {
  const parts = new RunPartBuilder();
  const torn: (Omit<TornLine, "last"> & { part: MutableSingleProcessRunPart })[] = [];
  const runs = new Set<string>();
  let number = 0;

  for (const text of iterateLines(source)) {
    number += 1;
    if (text.trim() === "") continue;
    const line = decodeRecordLine(text, `${file}:${number}`);
    if (line === "foreign") continue;
    if ("torn" in line) {
      torn.push({ file, line: number, why: line.torn, part: parts.currentPart });
      continue;
    }
    runs.add(line.run_id);
    if (options.runId !== undefined && line.run_id !== options.runId) continue;
    parts.addLine(line, number);
  }
  requireSingleRun(runs, file, options.runId);
  return buildRecordingFromRunParts(
    parts.parts,
    torn.map(({ part, ...rest }) => ({ ...rest, last: rest.line > part.lastLine })),
  );
}

interface MutableSingleProcessRunPart extends SingleProcessRecordLines {
  readonly lines: RecordLine[];
  /** Line number of the last decoded line in the record file. */
  lastLine: number;
  lastSeq: number;
}

/**
 * Divides the lines of a record file into run parts. Each run part comes from one process. Each run line
 * starts a new run part. If the file of a role has no run lines, a run part starts at a line whose `seq` does
 * not increase.
 */
class RunPartBuilder {
  readonly parts: MutableSingleProcessRunPart[] = [
    { run: undefined, attempt: 0, lines: [], lastLine: 0, lastSeq: 0 },
  ];
  currentPart: MutableSingleProcessRunPart = this.parts[0] as MutableSingleProcessRunPart;

  addLine(line: RecordLine, number: number): void {
    const { attempt, lastSeq } = this.currentPart;
    if (line.kind === "run") this.#startPart({ run: line, attempt: attempt + 1 });
    else {
      if ("seq" in line && line.seq <= lastSeq) this.#startPart({ run: undefined, attempt });
      this.currentPart.lines.push(line);
      if ("seq" in line) this.currentPart.lastSeq = line.seq;
    }
    this.currentPart.lastLine = number;
  }

  #startPart(part: Omit<SingleProcessRecordLines, "lines">): void {
    this.currentPart = { ...part, lines: [], lastLine: 0, lastSeq: 0 };
    this.parts.push(this.currentPart);
  }
}

/**
 * Builds a recording from the run parts of a file by aligning their clocks and separating abandoned attempts.
 */
function buildRecordingFromRunParts(
  parts: readonly SingleProcessRecordLines[],
  torn: readonly TornLine[],
): Recording {
  const { kept, abandoned } = selectAttemptPerSample(alignPartClocks(parts));
  return {
    run: parts.findLast(({ run }) => run !== undefined)?.run,
    cards: filterByKind(kept, "card").toSorted(compareByTime),
    calls: filterByKind(kept, "call").toSorted(compareByTime),
    scores: selectFirstLinePerSample(filterByKind(kept, "score")),
    skips: selectFirstLinePerSample(filterByKind(kept, "skip")),
    ends: filterByKind(kept, "end"),
    abandoned: { cards: filterByKind(abandoned, "card"), calls: filterByKind(abandoned, "call") },
    torn,
  };
}

/**
 * Aligns the monotonic clocks of the run parts with the wall clock. Each process's monotonic clock has a
 * different zero point.
 */
function alignPartClocks(parts: readonly SingleProcessRecordLines[]): SingleProcessRecordLines[] {
  const first =
    parts.map(({ lines }) => findWallToMonotonicOffset(lines)).find((offset) => offset !== undefined) ?? 0;
  return parts.map((part) => {
    const shift = (findWallToMonotonicOffset(part.lines) ?? first) - first;
    if (shift === 0) return part;
    const lines = part.lines.map((line) =>
      "mono_ms" in line ? { ...line, mono_ms: line.mono_ms + shift } : line,
    );
    return { ...part, lines };
  });
}

function filterByKind<Kind extends RecordLine["kind"]>(
  lines: readonly RecordLine[],
  kind: Kind,
): Extract<RecordLine, { kind: Kind }>[] {
  return lines.filter((line): line is Extract<RecordLine, { kind: Kind }> => line.kind === kind);
}

function requireSingleRun(runs: ReadonlySet<string>, file: string, runId: string | undefined): void {
  const names = [...runs].join(", ");
  const createError = (what: string): A2AError => new A2AError("INVALID_PARAMS", `${file}: ${what}`);
  if (runs.size === 0)
    throw createError("no line of a card record found. To do: name a file that ends in .cards.jsonl.");
  if (runId !== undefined && !runs.has(runId))
    throw createError(`run ${runId} not found. To do: select one of ${names}.`);
  if (runId === undefined && runs.size > 1)
    throw createError(`the file contains several runs. To do: select one of ${names}.`);
}

function iterateLines(source: string | Iterable<string>): Iterable<string> {
  return typeof source === "string" ? splitLines(source) : source;
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
