import type { ModelCallLine, CardLine, RecordLine } from "./record-line-types.ts";

/**
 * Returns the wall clock time minus the writer's monotonic time, in milliseconds. The result is `undefined`
 * if no record line has both times. The wall clock time of a line has no fractions of a millisecond, so the
 * largest difference is the most precise.
 */
export function findWallToMonotonicOffset(lines: readonly RecordLine[]): number | undefined {
  let offset: number | undefined;
  for (const line of lines)
    if ("mono_ms" in line)
      offset = Math.max(offset ?? Number.NEGATIVE_INFINITY, Date.parse(line.at) - line.mono_ms);
  return offset;
}

type MonotonicTimedLine = Pick<CardLine | ModelCallLine, "mono_ms">;

/** Compares two record lines by monotonic time, for a stable sort. */
export function compareByTime(a: MonotonicTimedLine, b: MonotonicTimedLine): number {
  return a.mono_ms - b.mono_ms;
}
