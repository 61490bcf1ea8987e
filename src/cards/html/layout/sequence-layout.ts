import { buildDelegationForest } from "../../views/delegations.ts";
import { flattenDelegations } from "../../views/sample-exchanges.ts";
import { listRoles } from "../run-overview.ts";
import type { PageCard } from "../run-model.ts";

/** A sequence diagram in numbers: roles stand beside each other, cards go down in the order of their sending. */
export interface SequenceLayout {
  readonly width: number;
  readonly height: number;
  readonly roles: readonly { readonly name: string; readonly x: number }[];
  readonly arrows: readonly SequenceArrow[];
  /** While a role owes somebody an answer. */
  readonly bars: readonly ActivationBar[];
}

export interface SequenceArrow {
  readonly pageCard: PageCard;
  readonly y: number;
  readonly from: number;
  readonly to: number;
  /** Milliseconds since the card before; of the first, since the beginning. */
  readonly delayMs: number;
}

export interface ActivationBar {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
  /** How many other answers the role owes already: such bars stand a little to the right. */
  readonly depth: number;
}

export const ROW_HEIGHT = 52;
const HEADER_HEIGHT = 64;
const SIDE_MARGIN = 92;

/** `room` is the width that there is; the diagram is wider when its roles need more. */
export function computeSequenceLayout(cards: readonly PageCard[], room: number): SequenceLayout {
  const names = listRoles(cards.map(({ card }) => card));
  const gap = Math.min(360, Math.max(190, (room - 2 * SIDE_MARGIN) / Math.max(1, names.length - 1)));
  const xs = new Map(names.map((name, at) => [name, SIDE_MARGIN + at * gap]));
  const xOf = (name: string): number => xs.get(name) ?? SIDE_MARGIN;
  const arrows = cards.map((seen, at): SequenceArrow => ({
    pageCard: seen,
    y: HEADER_HEIGHT + at * ROW_HEIGHT + ROW_HEIGHT / 2,
    from: xOf(seen.card.sender),
    to: xOf(seen.card.recipient),
    delayMs: seen.sentMs - (cards[at - 1] ?? seen).sentMs,
  }));
  return {
    width: 2 * SIDE_MARGIN + Math.max(0, names.length - 1) * gap,
    height: HEADER_HEIGHT + cards.length * ROW_HEIGHT + 24,
    roles: names.map((name) => ({ name, x: xOf(name) })),
    arrows,
    bars: computeActivationBars(arrows),
  };
}

function computeActivationBars(arrows: readonly SequenceArrow[]): ActivationBar[] {
  const byCard = new Map(arrows.map((arrow) => [arrow.pageCard.card, arrow]));
  const bars: ActivationBar[] = [];
  for (const { task, reply } of flattenDelegations(
    buildDelegationForest(arrows.map(({ pageCard: seen }) => seen)).roots,
  )) {
    const begin = byCard.get(task);
    const end = reply && byCard.get(reply);
    if (!begin || !end) continue;
    const depth = bars.filter(({ x, bottom }) => x === begin.to && bottom > begin.y).length;
    bars.push({ x: begin.to, top: begin.y, bottom: end.y, depth });
  }
  return bars;
}
