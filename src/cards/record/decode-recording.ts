import { A2AError } from "../../protocol/index.ts";
import { lastAttempts, type Part } from "./attempts.ts";
import { decodeLine } from "./decode-line.ts";
import type { Recording, RecordLine, TornLine } from "./lines.ts";
import { byTime, wallOffset } from "./time.ts";

export interface DecodeOptions {
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
  options: DecodeOptions = {},
): Recording {
  const parts = new Parts();
  const torn: (Omit<TornLine, "last"> & { part: OpenPart })[] = [];
  const runs = new Set<string>();
  let number = 0;

  for (const text of linesOf(source)) {
    number += 1;
    if (text.trim() === "") continue;
    const line = decodeLine(text, `${file}:${number}`);
    if (line === "foreign") continue;
    if ("torn" in line) {
      torn.push({ file, line: number, why: line.torn, part: parts.current });
      continue;
    }
    runs.add(line.run_id);
    if (options.runId !== undefined && line.run_id !== options.runId) continue;
    parts.add(line, number);
  }
  requireOneRun(runs, file, options.runId);
  return recordingOf(
    parts.all,
    torn.map(({ part, ...rest }) => ({ ...rest, last: rest.line > part.lastLine })),
  );
}

interface OpenPart extends Part {
  readonly lines: RecordLine[];
  /** The number of the last line that could be read. */
  lastLine: number;
  lastSeq: number;
}

/** A part begins with a line of the run, and where lines are counted from 1 again: a role may write without a run. */
class Parts {
  readonly all: OpenPart[] = [{ run: undefined, attempt: 0, lines: [], lastLine: 0, lastSeq: 0 }];
  current: OpenPart = this.all[0] as OpenPart;

  add(line: RecordLine, number: number): void {
    const { attempt, lastSeq } = this.current;
    if (line.kind === "run") this.#begin({ run: line, attempt: attempt + 1 });
    else {
      if ("seq" in line && line.seq <= lastSeq) this.#begin({ run: undefined, attempt });
      this.current.lines.push(line);
      if ("seq" in line) this.current.lastSeq = line.seq;
    }
    this.current.lastLine = number;
  }

  #begin(part: Omit<Part, "lines">): void {
    this.current = { ...part, lines: [], lastLine: 0, lastSeq: 0 };
    this.all.push(this.current);
  }
}

/** Puts the parts of a file on one clock, and what was interrupted aside. */
function recordingOf(parts: readonly Part[], torn: readonly TornLine[]): Recording {
  const { kept, abandoned } = lastAttempts(onOneClock(parts));
  const scores = Map.groupBy(ofKind(kept, "score"), (line) => line.sample_id);
  return {
    run: parts.findLast(({ run }) => run !== undefined)?.run,
    cards: ofKind(kept, "card").toSorted(byTime),
    calls: ofKind(kept, "call").toSorted(byTime),
    scores: [...scores.values()].flatMap(([first]) => first ?? []),
    ends: ofKind(kept, "end"),
    abandoned: { cards: ofKind(abandoned, "card"), calls: ofKind(abandoned, "call") },
    clocks: [],
    torn,
  };
}

/** Each process counts its milliseconds from somewhere else; the wall clock tells how far apart they are. */
function onOneClock(parts: readonly Part[]): Part[] {
  const first = parts.map(({ lines }) => wallOffset(lines)).find((offset) => offset !== undefined) ?? 0;
  return parts.map((part) => {
    const moved = (wallOffset(part.lines) ?? first) - first;
    if (moved === 0) return part;
    const lines = part.lines.map((line) =>
      "mono_ms" in line ? { ...line, mono_ms: line.mono_ms + moved } : line,
    );
    return { ...part, lines };
  });
}

function ofKind<Kind extends RecordLine["kind"]>(
  lines: readonly RecordLine[],
  kind: Kind,
): Extract<RecordLine, { kind: Kind }>[] {
  return lines.filter((line): line is Extract<RecordLine, { kind: Kind }> => line.kind === kind);
}

function requireOneRun(runs: ReadonlySet<string>, file: string, asked: string | undefined): void {
  const names = [...runs].join(", ");
  const refuse = (what: string): A2AError => new A2AError("INVALID_PARAMS", `${file}: ${what}`);
  if (runs.size === 0)
    throw refuse("there is no line of a card record in it. To do: name a file that ends in .cards.jsonl.");
  if (asked !== undefined && !runs.has(asked))
    throw refuse(`there is no run ${asked} in it. To do: ask for one of ${names}.`);
  if (asked === undefined && runs.size > 1)
    throw refuse(`there are several runs in it. To do: ask for one of ${names}.`);
}

function linesOf(source: string | Iterable<string>): Iterable<string> {
  return typeof source === "string" ? split(source) : source;
}

/** One line after the other: a list of all of them would be a second copy of the file. */
function* split(text: string): Iterable<string> {
  let from = text.startsWith("\uFEFF") ? 1 : 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    const until = end < 0 ? text.length : end;
    yield text.slice(from, until);
    from = until + 1;
  }
}
