import type { TrafficLine } from "./traffic-line-types.ts";

/** Returns whether somebody observed the event of a line when it happened. Other lines are observations. */
export function hasKnownTime(line: TrafficLine): boolean {
  return line.kind !== "event" || line.time_known !== false;
}
