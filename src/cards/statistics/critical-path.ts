import type { MessageCard } from "../message-card/index.ts";
import type { CardTiming } from "../recording/index.ts";
import { formatEdge } from "./card-statistics.ts";
import { sumBy } from "./distribution.ts";
import { WaitGraph } from "./wait-graph.ts";

/** A stretch of time that the answer waited for: somebody worked on a card, or it was on its way. */
export interface CriticalPathSegment {
  readonly kind: "work" | "travel";
  /** The card that was worked on, or that travelled. */
  readonly card: MessageCard;
  /** In milliseconds of the recording's clock. */
  readonly from: number;
  readonly to: number;
}

/**
 * The stretches of a problem without which it would have ended sooner, in their order and without a gap: from its first
 * task to the last reply to it. Found backwards: each card was begun when the last of what its sender waited for had
 * come, of parallel tasks the slowest. Empty when the first task has no reply.
 */
export function computeCriticalPath(moments: readonly CardTiming[]): CriticalPathSegment[] {
  const thread = new WaitGraph(moments);
  let at = thread.findFinalReply();
  const path: CriticalPathSegment[] = [];
  const seen = new Set<CardTiming>();
  let until = at?.arrivedMs ?? 0;
  const add = (kind: CriticalPathSegment["kind"], card: MessageCard, since: number): void => {
    // Clocks that disagree make no stretch longer than the whole.
    const from = Math.min(since, until);
    path.push({ kind, card, from, to: until });
    until = from;
  };
  while (at && !seen.has(at)) {
    seen.add(at);
    add("travel", at.card, at.sentMs);
    const before = thread.findPredecessor(at);
    if (!before) break;
    add("work", at.card, before.arrivedMs);
    at = before;
  }
  return path.toReversed();
}

/** Returns the length of a critical path in milliseconds, 0 if the path is empty. */
export function computePathDuration(path: readonly CriticalPathSegment[]): number {
  return (path.at(-1)?.to ?? 0) - (path[0]?.from ?? 0);
}

/** Where the time went, of all critical paths together. */
export interface Bottleneck {
  readonly kind: CriticalPathSegment["kind"];
  /** Who worked; of `travel`, `planner → solver`. */
  readonly who: string;
  /** `undefined` for cards that name none, and of `travel`. */
  readonly turn: number | undefined;
  readonly ms: number;
  /** Of the time of all critical paths. */
  readonly share: number;
}

/** The longest first: "solver, turn 2: 41 % of the time". */
export function computeBottlenecks(paths: readonly (readonly CriticalPathSegment[])[]): Bottleneck[] {
  const stretches = paths.flat();
  const total = sumDurations(stretches);
  const groups = Map.groupBy(stretches, ({ kind, card }) =>
    JSON.stringify([kind, formatSegmentOwner(kind, card), kind === "work" ? card.metadata.turn : null]),
  );
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (!first) return [];
      const { kind, card } = first;
      const ms = sumDurations(group);
      const turn = kind === "work" ? card.metadata.turn : undefined;
      return { kind, who: formatSegmentOwner(kind, card), turn, ms, share: total > 0 ? ms / total : 0 };
    })
    .toSorted((a, b) => b.ms - a.ms);
}

function formatSegmentOwner(kind: CriticalPathSegment["kind"], card: MessageCard): string {
  return kind === "work" ? card.sender : formatEdge(card);
}

function sumDurations(stretches: readonly CriticalPathSegment[]): number {
  return sumBy(stretches, ({ from, to }) => to - from);
}
