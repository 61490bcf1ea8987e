import type { ModelCallLine, CardLine, RecordLine } from "./record-line-types.ts";

/**
 * Returns the wall clock time minus the writer's monotonic time, in milliseconds. The result is `undefined`
 * if no record line has both times.
 */
export function findWallToMonotonicOffset(lines: readonly RecordLine[]): number | undefined {
  const line = lines.find((line) => "mono_ms" in line);
  return line && Date.parse(line.at) - line.mono_ms;
}

type MonotonicTimedLine = Pick<CardLine | ModelCallLine, "mono_ms">;

/** Compares two record lines by monotonic time, for a stable sort. */
export function compareByTime(a: MonotonicTimedLine, b: MonotonicTimedLine): number {
  return a.mono_ms - b.mono_ms;
}
