import type { CallLine, CardLine, RecordLine } from "./lines.ts";

/** How far the wall clock is ahead of the writer's own; `undefined` when no line tells both. */
export function wallOffset(lines: readonly RecordLine[]): number | undefined {
  const line = lines.find((line) => "mono_ms" in line);
  return line && Date.parse(line.at) - line.mono_ms;
}

type Timed = Pick<CardLine | CallLine, "mono_ms">;

/** In the order of time; what is of the same moment stays as it was. */
export function byTime(a: Timed, b: Timed): number {
  return a.mono_ms - b.mono_ms;
}
