import { buildDelegationForest } from "../../views/delegations.ts";
import { flattenDelegations } from "../../views/sample-exchanges.ts";
import { listRoles } from "../run-overview.ts";
import type { PageCard } from "../run-model.ts";
import { computeLastArrival } from "../sample-summary.ts";

/** Lanes of time, one for each role: when it worked on a card, and when cards were under way. Lengths are shares of the whole. */
export interface TimelineLayout {
  /** Milliseconds from the left edge to the right one; at least 1. */
  readonly totalMs: number;
  readonly lanes: readonly TimelineLane[];
  /** Milliseconds at which the scale has a mark. */
  readonly ticks: readonly number[];
}

export interface TimelineLane {
  readonly role: string;
  /** Side by side where the role works on several cards at once. */
  readonly rowCount: number;
  readonly bars: readonly TimelineBar[];
}

/** The work on a card, by what its sender says, else since it last heard or said something. A card that took no time is a mark. */
export interface TimelineBar {
  readonly pageCard: PageCard;
  readonly row: number;
  /** 0 to 1. */
  readonly start: number;
  readonly length: number;
}

export function computeTimelineLayout(cards: readonly PageCard[]): TimelineLayout {
  const spans = new Map(
    flattenDelegations(buildDelegationForest(cards).roots).flatMap((one) =>
      one.workSpans.map((span) => [span.card, span] as const),
    ),
  );
  const works = cards.map((seen) => ({
    seen,
    from: Math.min(seen.sentMs, spans.get(seen.card)?.start ?? seen.sentMs),
  }));
  const begin = works.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY);
  const span = Math.max(1, computeLastArrival(cards) - begin) || 1;
  const lanes = listRoles(cards.map(({ card }) => card)).map((role): TimelineLane => {
    const ends: number[] = [];
    const own = works
      .filter(({ seen }) => seen.card.sender === role)
      .toSorted((a, b) => a.from - b.from)
      .map(({ seen, from }): TimelineBar => {
        // What ends when the next begins stands in the same row.
        let row = ends.findIndex((end) => end <= from);
        if (row < 0) row = ends.length;
        ends[row] = seen.sentMs;
        return { pageCard: seen, row, start: (from - begin) / span, length: (seen.sentMs - from) / span };
      });
    return { role, rowCount: Math.max(1, ends.length), bars: own };
  });
  return { totalMs: cards.length > 0 ? span : 1, lanes, ticks: cards.length > 0 ? computeTicks(span) : [] };
}

/** Round steps of which four to ten are in the span. */
function computeTicks(span: number): number[] {
  const rough = span / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, at) => at * step);
}
