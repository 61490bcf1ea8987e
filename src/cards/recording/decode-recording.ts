import { A2AError } from "../../protocol/index.ts";
import { type RunPart, selectFirstScores, separateLastAttempts } from "./attempts.ts";
import { decodeRecordLine } from "./decode-record-line.ts";
import type { Recording, RecordLine, TornLine } from "./record-lines.ts";
import { compareByTime, findWallClockOffset } from "./line-time.ts";

export interface DecodeRecordingOptions {
  /** Which of the runs, where a file has lines of several. */
  readonly runId?: string;
}

/**
 * A run from the text of its file, or from its lines. `file` is its name, which errors cite. What was left of a line by
 * a writer that was killed is told in `torn`; lines of other kinds are passed over. Throws INVALID_PARAMS for a line of
 * ours that is not as it should be, for a file without any, and for one with several runs of which none is asked for.
 */
export function decodeRecording(
  source: string | Iterable<string>,
  file: string,
  options: DecodeRecordingOptions = {},
): Recording {
  const parts = new RunPartBuilder();
  const torn: (Omit<TornLine, "last"> & { part: OpenRunPart })[] = [];
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
  return buildRecording(
    parts.parts,
    torn.map(({ part, ...rest }) => ({ ...rest, last: rest.line > part.lastLine })),
  );
}

interface OpenRunPart extends RunPart {
  readonly lines: RecordLine[];
  /** The number of the last line that could be read. */
  lastLine: number;
  lastSeq: number;
}

/** A part begins with a line of the run, and where lines are counted from 1 again: a role may write without a run. */
class RunPartBuilder {
  readonly parts: OpenRunPart[] = [{ run: undefined, attempt: 0, lines: [], lastLine: 0, lastSeq: 0 }];
  currentPart: OpenRunPart = this.parts[0] as OpenRunPart;

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

  #startPart(part: Omit<RunPart, "lines">): void {
    this.currentPart = { ...part, lines: [], lastLine: 0, lastSeq: 0 };
    this.parts.push(this.currentPart);
  }
}

/** Puts the parts of a file on one clock, and what was interrupted aside. */
function buildRecording(parts: readonly RunPart[], torn: readonly TornLine[]): Recording {
  const { kept, abandoned } = separateLastAttempts(alignPartClocks(parts));
  return {
    run: parts.findLast(({ run }) => run !== undefined)?.run,
    cards: filterByKind(kept, "card").toSorted(compareByTime),
    calls: filterByKind(kept, "call").toSorted(compareByTime),
    scores: selectFirstScores(filterByKind(kept, "score")),
    ends: filterByKind(kept, "end"),
    abandoned: { cards: filterByKind(abandoned, "card"), calls: filterByKind(abandoned, "call") },
    clocks: [],
    torn,
  };
}

/** Each process counts its milliseconds from somewhere else; the wall clock tells how far apart they are. */
function alignPartClocks(parts: readonly RunPart[]): RunPart[] {
  const first =
    parts.map(({ lines }) => findWallClockOffset(lines)).find((offset) => offset !== undefined) ?? 0;
  return parts.map((part) => {
    const moved = (findWallClockOffset(part.lines) ?? first) - first;
    if (moved === 0) return part;
    const lines = part.lines.map((line) =>
      "mono_ms" in line ? { ...line, mono_ms: line.mono_ms + moved } : line,
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

function requireSingleRun(runs: ReadonlySet<string>, file: string, asked: string | undefined): void {
  const names = [...runs].join(", ");
  const refuse = (what: string): A2AError => new A2AError("INVALID_PARAMS", `${file}: ${what}`);
  if (runs.size === 0)
    throw refuse("there is no line of a card record in it. To do: name a file that ends in .cards.jsonl.");
  if (asked !== undefined && !runs.has(asked))
    throw refuse(`there is no run ${asked} in it. To do: ask for one of ${names}.`);
  if (asked === undefined && runs.size > 1)
    throw refuse(`there are several runs in it. To do: ask for one of ${names}.`);
}

function iterateLines(source: string | Iterable<string>): Iterable<string> {
  return typeof source === "string" ? splitLines(source) : source;
}

/** One line after the other: a list of all of them would be a second copy of the file. */
function* splitLines(text: string): Iterable<string> {
  let from = text.startsWith("\uFEFF") ? 1 : 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    const until = end < 0 ? text.length : end;
    yield text.slice(from, until);
    from = until + 1;
  }
}
