import type { CardTransitTimes } from "../recording/index.ts";
import { CardDependencyGraph } from "./card-dependency-graph.ts";

/** Working time and waiting time of a role in one problem. */
export interface RoleWorkAndWaitTime {
  readonly role: string;
  /** Time in milliseconds that the role worked on at least one message card. */
  readonly workingMs: number;
  /** Time in milliseconds that the role did not work, between its first and last message card. */
  readonly waitingMs: number;
}

/**
 * Computes the working time and the waiting time of each role. Roles are in the order of their first message
 * card.
 */
export function computeRoleTimes(timings: readonly CardTransitTimes[]): RoleWorkAndWaitTime[] {
  const graph = new CardDependencyGraph(timings);
  const roles = new Set(timings.flatMap(({ card }) => [card.sender, card.recipient]));
  return [...roles].map((role) => {
    const sent = timings.filter(({ card }) => card.sender === role);
    // A control card requires no work: its sender has been waiting.
    const producedByWork = sent.filter(({ card }) => card.message_type !== "control");
    const work = producedByWork.map((one) => {
      const before = graph.findLastArrivalBeforeWork(one)?.arrivedMs ?? one.sentMs;
      return { from: Math.min(before, one.sentMs), to: one.sentMs };
    });
    const arrivals = timings.flatMap(({ card, arrivedMs }) => (card.recipient === role ? arrivedMs : []));
    const times = [...arrivals, ...sent.map((one) => one.sentMs)].toSorted((a, b) => a - b);
    const present = (times.at(-1) ?? 0) - (times[0] ?? 0);
    const workingMs = computeUnionLength(work);
    return { role, workingMs, waitingMs: Math.max(0, present - workingMs) };
  });
}

/** Returns the total length of intervals that may overlap. */
function computeUnionLength(intervals: readonly { from: number; to: number }[]): number {
  let length = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { from, to } of intervals.toSorted((a, b) => a.from - b.from)) {
    length += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return length;
}
