import { delegationsOf } from "../../views/delegations.ts";
import { allOf } from "../../views/exchanges.ts";
import { rolesOf } from "../overview.ts";
import type { SeenCard } from "../run-model.ts";

/** A sequence diagram in numbers: roles stand beside each other, cards go down in the order of their sending. */
export interface SequenceLayout {
  readonly width: number;
  readonly height: number;
  readonly roles: readonly { readonly name: string; readonly x: number }[];
  readonly arrows: readonly Arrow[];
  /** While a role owes somebody an answer. */
  readonly bars: readonly Bar[];
}

export interface Arrow {
  readonly seen: SeenCard;
  readonly y: number;
  readonly from: number;
  readonly to: number;
  /** Milliseconds since the card before; of the first, since the beginning. */
  readonly after: number;
}

export interface Bar {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
  /** How many other answers the role owes already: such bars stand a little to the right. */
  readonly depth: number;
}

export const ROW = 52;
const HEAD = 64;
const SIDE = 92;

/** `room` is the width that there is; the diagram is wider when its roles need more. */
export function sequenceLayout(cards: readonly SeenCard[], room: number): SequenceLayout {
  const names = rolesOf(cards.map(({ card }) => card));
  const gap = Math.min(360, Math.max(190, (room - 2 * SIDE) / Math.max(1, names.length - 1)));
  const xs = new Map(names.map((name, at) => [name, SIDE + at * gap]));
  const xOf = (name: string): number => xs.get(name) ?? SIDE;
  const arrows = cards.map((seen, at): Arrow => ({
    seen,
    y: HEAD + at * ROW + ROW / 2,
    from: xOf(seen.card.sender),
    to: xOf(seen.card.recipient),
    after: seen.sent - (cards[at - 1] ?? seen).sent,
  }));
  return {
    width: 2 * SIDE + Math.max(0, names.length - 1) * gap,
    height: HEAD + cards.length * ROW + 24,
    roles: names.map((name) => ({ name, x: xOf(name) })),
    arrows,
    bars: barsOf(arrows),
  };
}

function barsOf(arrows: readonly Arrow[]): Bar[] {
  const byCard = new Map(arrows.map((arrow) => [arrow.seen.card, arrow]));
  const bars: Bar[] = [];
  for (const { task, reply } of allOf(delegationsOf(arrows.map(({ seen }) => seen)).roots)) {
    const begin = byCard.get(task);
    const end = reply && byCard.get(reply);
    if (!begin || !end) continue;
    const depth = bars.filter(({ x, bottom }) => x === begin.to && bottom > begin.y).length;
    bars.push({ x: begin.to, top: begin.y, bottom: end.y, depth });
  }
  return bars;
}
