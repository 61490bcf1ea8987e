import type { CardTiming } from "../recording/index.ts";
import { WaitGraph } from "./wait-graph.ts";

/** What a role did with its time, of one problem. */
export interface RoleTime {
  readonly role: string;
  /** At work on at least one card. */
  readonly workingMs: number;
  /** From its first card to its last, and not at work: others had to come first. */
  readonly waitingMs: number;
}

/** How long each role worked and waited, in the order in which they appear. */
export function computeRoleTimes(moments: readonly CardTiming[]): RoleTime[] {
  const thread = new WaitGraph(moments);
  const roles = new Set(moments.flatMap(({ card }) => [card.sender, card.recipient]));
  return [...roles].map((role) => {
    const sent = moments.filter(({ card }) => card.sender === role);
    // A control card is sent in passing: whoever stops others has been waiting.
    const made = sent.filter(({ card }) => card.message_type !== "control");
    const work = made.map((one) => {
      const before = thread.findPredecessor(one)?.arrivedMs ?? one.sentMs;
      return { from: Math.min(before, one.sentMs), to: one.sentMs };
    });
    const arrivals = moments.flatMap(({ card, arrivedMs: arrived }) =>
      card.recipient === role ? arrived : [],
    );
    const times = [...arrivals, ...sent.map((one) => one.sentMs)].toSorted((a, b) => a - b);
    const present = (times.at(-1) ?? 0) - (times[0] ?? 0);
    const workingMs = computeUnionLength(work);
    return { role, workingMs, waitingMs: Math.max(0, present - workingMs) };
  });
}

/** Of intervals that may overlap. */
function computeUnionLength(intervals: readonly { from: number; to: number }[]): number {
  let length = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { from, to } of intervals.toSorted((a, b) => a.from - b.from)) {
    length += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return length;
}
