import type { MessageCard } from "../message-card/index.ts";
import type { CardTiming } from "../recording/index.ts";
import { formatEdge } from "./card-statistics.ts";
import { sumBy } from "./distribution.ts";
import { WaitGraph } from "./wait-graph.ts";

/** A period for which the answer waited: a role worked on a card, or the card was in transit. */
export interface CriticalPathSegment {
  readonly kind: "work" | "travel";
  /** Card that a role worked on, or that was in transit. */
  readonly card: MessageCard;
  /** Start in milliseconds of the recording's clock. */
  readonly from: number;
  /** End in milliseconds of the recording's clock. */
  readonly to: number;
}

/**
 * Returns the segments that determine the duration of a problem, in order and without gaps, from the first
 * task to the last reply to it.
 * The search runs backward: work on a card starts when the last card that its sender waited for arrives. The
 * path is empty if the first task has no reply.
 */
export function computeCriticalPath(timings: readonly CardTiming[]): CriticalPathSegment[] {
  const graph = new WaitGraph(timings);
  let at = graph.findFinalReply();
  const path: CriticalPathSegment[] = [];
  const seen = new Set<CardTiming>();
  let until = at?.arrivedMs ?? 0;
  const add = (kind: CriticalPathSegment["kind"], card: MessageCard, since: number): void => {
    // If clocks disagree, a segment must not become longer than the entire period.
    const from = Math.min(since, until);
    path.push({ kind, card, from, to: until });
    until = from;
  };
  while (at && !seen.has(at)) {
    seen.add(at);
    add("travel", at.card, at.sentMs);
    const before = graph.findPredecessor(at);
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

/** A share of the time of all critical paths. */
export interface Bottleneck {
  readonly kind: CriticalPathSegment["kind"];
  /** Role that worked. For `travel`, the direction, such as `planner → solver`. */
  readonly who: string;
  /** Turn of the work. `undefined` for cards without a turn and for `travel`. */
  readonly turn: number | undefined;
  readonly ms: number;
  /** Share of the total time of all critical paths, from 0 to 1. */
  readonly share: number;
}

/**
 * Groups the time of critical paths by role and turn, the longest first, for example "solver, turn 2: 41 %".
 */
export function computeBottlenecks(paths: readonly (readonly CriticalPathSegment[])[]): Bottleneck[] {
  const segments = paths.flat();
  const total = sumDurations(segments);
  const groups = Map.groupBy(segments, ({ kind, card }) =>
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

function sumDurations(segments: readonly CriticalPathSegment[]): number {
  return sumBy(segments, ({ from, to }) => to - from);
}
