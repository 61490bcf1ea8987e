import type { RecordLine, RunLine, ScoreLine } from "./record-lines.ts";

type RecordLines = readonly RecordLine[];

/** Lines that one process wrote between its start and its end. */
export interface RunPart {
  readonly run: RunLine | undefined;
  /**
   * Number of the attempt. A part that starts or resumes the run increments it. A role that restarts during a
   * problem does not.
   */
  readonly attempt: number;
  readonly lines: RecordLines;
}

/**
 * Selects one attempt for each problem: the attempt that scored it, else the last attempt with any line.
 * An interrupted problem starts again in the next part. Lines of other attempts are returned in `abandoned`.
 * Lines without a problem are always kept.
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

/** Returns the ID of the problem that a line belongs to. */
export function findSampleId(line: RecordLine): string | undefined {
  if (line.kind === "card") return line.sample_id ?? line.card.metadata.sample_id;
  return "sample_id" in line ? line.sample_id : undefined;
}

/** Returns the first score of each problem. */
export function selectFirstScores(scores: readonly ScoreLine[]): ScoreLine[] {
  return [...Map.groupBy(scores, ({ sample_id }) => sample_id).values()].flatMap(([first]) => first ?? []);
}
