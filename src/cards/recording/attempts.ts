import type { RecordLine, RunLine, ScoreLine } from "./record-lines.ts";

type RecordLines = readonly RecordLine[];

/** What one process wrote between its start and its end. */
export interface RunPart {
  readonly run: RunLine | undefined;
  /** Counts the parts that begin a run, or go on with it. A role that starts anew in the middle of a problem begins none. */
  readonly attempt: number;
  readonly lines: RecordLines;
}

/**
 * A problem that was interrupted is begun again by the next part. Of each problem one attempt counts: the one that
 * finished it, else the last that has anything of it. The rest is put aside. Lines without a problem all count.
 */
export function separateLastAttempts(parts: readonly RunPart[]): {
  kept: RecordLines;
  abandoned: RecordLines;
} {
  const lines = parts.flatMap(({ lines, attempt }) => lines.map((line) => ({ line, attempt })));
  const counts = new Map<string, number>();
  const done = new Set<string>();
  for (const { line, attempt } of lines) {
    const id = findSampleId(line);
    if (id === undefined || done.has(id)) continue;
    counts.set(id, attempt);
    if (line.kind === "score") done.add(id);
  }
  const { kept = [], abandoned = [] } = Object.groupBy(lines, ({ line, attempt }) => {
    const id = findSampleId(line);
    return id === undefined || counts.get(id) === attempt ? "kept" : "abandoned";
  });
  return { kept: kept.map(({ line }) => line), abandoned: abandoned.map(({ line }) => line) };
}

/** The problem that a line is about. */
export function findSampleId(line: RecordLine): string | undefined {
  if (line.kind === "card") return line.sample_id ?? line.card.metadata.sample_id;
  return "sample_id" in line ? line.sample_id : undefined;
}

/** Returns the first score of each problem. */
export function selectFirstScores(scores: readonly ScoreLine[]): ScoreLine[] {
  return [...Map.groupBy(scores, ({ sample_id }) => sample_id).values()].flatMap(([first]) => first ?? []);
}
