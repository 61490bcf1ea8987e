import { buildDelegatedTaskForest } from "../../views/delegated-task-forest.ts";
import { flattenDelegations } from "../../views/sample-delegation-forests.ts";
import { listRolesInCards } from "../run-statistics.ts";
import type { PageCard } from "../run-model.ts";

/**
 * Layout of a sequence diagram. Each role is a column, and each message card is a row, in the order the cards
 * were sent.
 */
interface SequenceLayout {
  readonly width: number;
  readonly height: number;
  readonly roles: readonly { readonly name: string; readonly x: number }[];
  readonly arrows: readonly SequenceArrow[];
  /** Vertical bars that mark when a role has a pending task. */
  readonly bars: readonly ActivationBar[];
}

interface SequenceArrow {
  readonly pageCard: PageCard;
  readonly y: number;
  readonly from: number;
  readonly to: number;
  /** Time in milliseconds since the previous message card, or 0 for the first message card. */
  readonly delayMs: number;
}

interface ActivationBar {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
  /**
   * Number of tasks that were already pending for the role. Each of these tasks shifts the bar to the right.
   */
  readonly depth: number;
}

/** Height of a diagram row in pixels. */
export const SEQUENCE_ROW_HEIGHT = 52;
const SEQUENCE_HEADER_HEIGHT = 64;
const SEQUENCE_SIDE_MARGIN = 92;

/**
 * Computes the layout of a sequence diagram. The diagram can be wider than the available width.
 * `availableWidth` is in pixels.
 */
export function computeSequenceLayout(cards: readonly PageCard[], availableWidth: number): SequenceLayout {
  const names = listRolesInCards(cards.map(({ card }) => card));
  const gap = Math.min(
    360,
    Math.max(190, (availableWidth - 2 * SEQUENCE_SIDE_MARGIN) / Math.max(1, names.length - 1)),
  );
  const xs = new Map(names.map((name, at) => [name, SEQUENCE_SIDE_MARGIN + at * gap]));
  const getX = (name: string): number => xs.get(name) ?? SEQUENCE_SIDE_MARGIN;
  const arrows = cards.map((seen, at): SequenceArrow => ({
    pageCard: seen,
    y: SEQUENCE_HEADER_HEIGHT + at * SEQUENCE_ROW_HEIGHT + SEQUENCE_ROW_HEIGHT / 2,
    from: getX(seen.card.sender),
    to: getX(seen.card.recipient),
    delayMs: seen.sentMs - (cards[at - 1] ?? seen).sentMs,
  }));
  return {
    width: 2 * SEQUENCE_SIDE_MARGIN + Math.max(0, names.length - 1) * gap,
    height: SEQUENCE_HEADER_HEIGHT + cards.length * SEQUENCE_ROW_HEIGHT + 24,
    roles: names.map((name) => ({ name, x: getX(name) })),
    arrows,
    bars: computeActivationBars(arrows),
  };
}

function computeActivationBars(arrows: readonly SequenceArrow[]): ActivationBar[] {
  const byCard = new Map(arrows.map((arrow) => [arrow.pageCard.card, arrow]));
  const bars: ActivationBar[] = [];
  for (const { task, reply } of flattenDelegations(
    buildDelegatedTaskForest(arrows.map(({ pageCard }) => pageCard)).roots,
  )) {
    const begin = byCard.get(task);
    const end = reply && byCard.get(reply);
    if (!begin || !end) continue;
    const depth = bars.filter(({ x, bottom }) => x === begin.to && bottom > begin.y).length;
    bars.push({ x: begin.to, top: begin.y, bottom: end.y, depth });
  }
  return bars;
}
