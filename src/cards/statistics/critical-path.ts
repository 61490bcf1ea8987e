import type { Card } from "../card/index.ts";
import type { Moments } from "../record/index.ts";
import { Thread } from "./thread.ts";

/** A stretch of time that the answer waited for: somebody worked on a card, or it was on its way. */
export interface Stretch {
  readonly kind: "work" | "travel";
  /** The card that was worked on, or that travelled. */
  readonly card: Card;
  /** In milliseconds of the recording's clock. */
  readonly from: number;
  readonly to: number;
}

/**
 * The stretches of a problem without which it would have ended sooner, in their order and without a gap: from its first
 * task to the last reply to it. Found backwards: each card was begun when the last of what its sender waited for had
 * come, of parallel tasks the slowest. Empty when the first task has no reply.
 */
export function criticalPathOf(moments: readonly Moments[]): Stretch[] {
  const thread = new Thread(moments);
  let at = thread.last();
  const path: Stretch[] = [];
  const seen = new Set<Moments>();
  let until = at?.arrived ?? 0;
  const add = (kind: Stretch["kind"], card: Card, since: number): void => {
    // Clocks that disagree make no stretch longer than the whole.
    const from = Math.min(since, until);
    path.push({ kind, card, from, to: until });
    until = from;
  };
  while (at && !seen.has(at)) {
    seen.add(at);
    add("travel", at.card, at.sent);
    const before = thread.before(at);
    if (!before) break;
    add("work", at.card, before.arrived);
    at = before;
  }
  return path.toReversed();
}

/** Where the time went, of all critical paths together. */
export interface Bottleneck {
  readonly kind: Stretch["kind"];
  /** Who worked; of `travel`, `planner → solver`. */
  readonly who: string;
  /** `undefined` for cards that name none, and of `travel`. */
  readonly turn: number | undefined;
  readonly ms: number;
  /** Of the time of all critical paths. */
  readonly share: number;
}

/** The longest first: "solver, turn 2: 41 % of the time". */
export function bottlenecksOf(paths: readonly (readonly Stretch[])[]): Bottleneck[] {
  const stretches = paths.flat();
  const total = sumOf(stretches);
  const groups = Map.groupBy(stretches, ({ kind, card }) =>
    JSON.stringify([kind, placeOf(kind, card), kind === "work" ? card.metadata.turn : null]),
  );
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (!first) return [];
      const { kind, card } = first;
      const ms = sumOf(group);
      const turn = kind === "work" ? card.metadata.turn : undefined;
      return { kind, who: placeOf(kind, card), turn, ms, share: total > 0 ? ms / total : 0 };
    })
    .toSorted((a, b) => b.ms - a.ms);
}

function placeOf(kind: Stretch["kind"], { sender, recipient }: Card): string {
  return kind === "work" ? sender : `${sender} → ${recipient}`;
}

function sumOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((total, { from, to }) => total + to - from, 0);
}
