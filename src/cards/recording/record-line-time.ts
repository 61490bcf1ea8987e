import type { ModelCallLine, CardLine, RecordLine } from "./record-lines.ts";

/**
 * Returns the wall clock minus the writer's monotonic clock in milliseconds. The result is `undefined` if no
 * record line has both times.
 */
export function findWallClockOffset(lines: readonly RecordLine[]): number | undefined {
  const line = lines.find((line) => "mono_ms" in line);
  return line && Date.parse(line.at) - line.mono_ms;
}

type TimedLine = Pick<CardLine | ModelCallLine, "mono_ms">;

/** Compares two record lines by monotonic time, for a stable sort. */
export function compareByTime(a: TimedLine, b: TimedLine): number {
  return a.mono_ms - b.mono_ms;
}
