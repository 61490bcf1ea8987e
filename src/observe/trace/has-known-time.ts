import type { TrafficLine } from "./traffic-line-types.ts";

/** Returns false for an event whose commit no writer observed. All other lines have a known time. */
export function hasKnownTime(line: TrafficLine): boolean {
  return line.kind !== "event" || line.time_known !== false;
}
