import type { ModelCallLine, CardLine, RecordLine } from "./record-lines.ts";

/** How far the wall clock is ahead of the writer's own; `undefined` when no line tells both. */
export function findWallClockOffset(lines: readonly RecordLine[]): number | undefined {
  const line = lines.find((line) => "mono_ms" in line);
  return line && Date.parse(line.at) - line.mono_ms;
}

type TimedLine = Pick<CardLine | ModelCallLine, "mono_ms">;

/** In the order of time; what is of the same moment stays as it was. */
export function compareByTime(a: TimedLine, b: TimedLine): number {
  return a.mono_ms - b.mono_ms;
}
