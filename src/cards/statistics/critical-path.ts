import type { MessageCard } from "../message-card/index.ts";
import type { CardTransitTimes } from "../recording/index.ts";
import { formatCardSenderAndRecipient } from "./card-statistics.ts";
import { sumBy } from "./distribution.ts";
import { CardDependencyGraph } from "./card-dependency-graph.ts";

/** Segment of the critical path, which is a period when a role worked or a message card was in transit. */
export interface CriticalPathSegment {
  readonly kind: "work" | "travel";
  /** Message card that the role prepared or that was in transit. */
  readonly card: MessageCard;
  /** Start of the segment in milliseconds on the recording's clock. */
  readonly from: number;
  /** End of the segment in milliseconds on the recording's clock. */
  readonly to: number;
}

/**
 * Returns the segments of the critical path from the first task to the last reply. The segments are in order
 * and without gaps. The search for critical path segments runs backward from the last reply. A sender starts
 * to work on a message card when all cards required for the work have arrived. The critical path is empty if
 * the first task has no reply.
 */
export function computeCriticalPath(timings: readonly CardTransitTimes[]): CriticalPathSegment[] {
  const graph = new CardDependencyGraph(timings);
  let at = graph.findLastReplyToInitialRequester();
  const path: CriticalPathSegment[] = [];
  const seen = new Set<CardTransitTimes>();
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
    const before = graph.findLastArrivalBeforeWork(at);
    if (!before) break;
    add("work", at.card, before.arrivedMs);
    at = before;
  }
  return path.toReversed();
}

/** Returns the duration of a critical path in milliseconds, or 0 if the critical path is empty. */
export function computeCriticalPathDuration(path: readonly CriticalPathSegment[]): number {
  return (path.at(-1)?.to ?? 0) - (path[0]?.from ?? 0);
}

/** Time that a role or a transit direction contributes to all critical paths. */
export interface CriticalPathBottleneck {
  readonly kind: CriticalPathSegment["kind"];
  /** Name of the working role, or direction of the transit, for example `planner → solver`. */
  readonly who: string;
  /**
   * Number of the turn when the role worked, or `undefined` for transit and for message cards without a turn.
   */
  readonly turn: number | undefined;
  readonly ms: number;
  /** Fraction of the total duration of all critical paths, from 0 to 1. */
  readonly share: number;
}

/** Groups the time of critical paths by role and turn, and sorts the groups by time in descending order. */
export function computeBottlenecks(
  paths: readonly (readonly CriticalPathSegment[])[],
): CriticalPathBottleneck[] {
  const segments = paths.flat();
  const total = sumDurations(segments);
  const groups = Map.groupBy(segments, ({ kind, card }) =>
    JSON.stringify([
      kind,
      formatSegmentRoleOrDirection(kind, card),
      kind === "work" ? card.metadata.turn : null,
    ]),
  );
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (!first) return [];
      const { kind, card } = first;
      const ms = sumDurations(group);
      const turn = kind === "work" ? card.metadata.turn : undefined;
      return {
        kind,
        who: formatSegmentRoleOrDirection(kind, card),
        turn,
        ms,
        share: total > 0 ? ms / total : 0,
      };
    })
    .toSorted((a, b) => b.ms - a.ms);
}

function formatSegmentRoleOrDirection(kind: CriticalPathSegment["kind"], card: MessageCard): string {
  return kind === "work" ? card.sender : formatCardSenderAndRecipient(card);
}

function sumDurations(segments: readonly CriticalPathSegment[]): number {
  return sumBy(segments, ({ from, to }) => to - from);
}
