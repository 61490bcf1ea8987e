import type { RecordLine, RunLine } from "./record-line-types.ts";

type RecordLineList = readonly RecordLine[];

/** Record lines that one process wrote to a record file. */
export interface SingleProcessRecordLines {
  readonly run: RunLine | undefined;
  /**
   * Attempt number of the run. A process that starts or resumes the run increments the attempt number. A role
   * that restarts during a problem keeps the attempt number.
   */
  readonly attempt: number;
  readonly lines: RecordLineList;
}

/**
 * Selects one attempt for each problem: the attempt with a score or a skip, or else the last attempt with a record
 * line. A resumed run starts interrupted problems again. `abandoned` contains the record lines of attempts
 * that were not selected. Record lines that belong to no problem are always kept.
 */
export function selectAttemptPerSample(parts: readonly SingleProcessRecordLines[]): {
  kept: RecordLineList;
  abandoned: RecordLineList;
} {
  const lines = parts.flatMap(({ lines, attempt }) => lines.map((line) => ({ line, attempt })));
  const counts = new Map<string, number>();
  const done = new Set<string>();
  for (const { line, attempt } of lines) {
    const id = findRecordLineSampleId(line);
    if (id === undefined || done.has(id)) continue;
    counts.set(id, attempt);
    if (line.kind === "score" || line.kind === "skip") done.add(id);
  }
  const { kept = [], abandoned = [] } = Object.groupBy(lines, ({ line, attempt }) => {
    const id = findRecordLineSampleId(line);
    return id === undefined || counts.get(id) === attempt ? "kept" : "abandoned";
  });
  return { kept: kept.map(({ line }) => line), abandoned: abandoned.map(({ line }) => line) };
}

/** Returns the ID of the problem that a record line belongs to. */
export function findRecordLineSampleId(line: RecordLine): string | undefined {
  if (line.kind === "card") return line.sample_id ?? line.card.metadata.sample_id;
  return "sample_id" in line ? line.sample_id : undefined;
}

export function selectFirstLinePerSample<Line extends { readonly sample_id: string }>(
  lines: readonly Line[],
): Line[] {
  return [...Map.groupBy(lines, ({ sample_id }) => sample_id).values()].flatMap(([first]) => first ?? []);
}
