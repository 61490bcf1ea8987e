import { delegationsOf } from "../../views/delegations.ts";
import { allOf } from "../../views/exchanges.ts";
import { rolesOf } from "../overview.ts";
import type { SeenCard } from "../run-model.ts";
import { endOf } from "../summary.ts";

/** Lanes of time, one for each role: when it worked on a card, and when cards were under way. Lengths are shares of the whole. */
export interface TimelineLayout {
  /** Milliseconds from the left edge to the right one; at least 1. */
  readonly span: number;
  readonly lanes: readonly Lane[];
  /** Milliseconds at which the scale has a mark. */
  readonly ticks: readonly number[];
}

export interface Lane {
  readonly role: string;
  /** Side by side where the role works on several cards at once. */
  readonly rows: number;
  readonly spans: readonly Span[];
}

/** The work on a card, by what its sender says, else since it last heard or said something. A card that took no time is a mark. */
export interface Span {
  readonly seen: SeenCard;
  readonly row: number;
  /** 0 to 1. */
  readonly start: number;
  readonly length: number;
}

export function timelineLayout(cards: readonly SeenCard[]): TimelineLayout {
  const spans = new Map(
    allOf(delegationsOf(cards).roots).flatMap((one) => one.spans.map((span) => [span.card, span] as const)),
  );
  const works = cards.map((seen) => ({
    seen,
    from: Math.min(seen.sent, spans.get(seen.card)?.start ?? seen.sent),
  }));
  const begin = works.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY);
  const span = Math.max(1, endOf(cards) - begin) || 1;
  const lanes = rolesOf(cards.map(({ card }) => card)).map((role): Lane => {
    const ends: number[] = [];
    const own = works
      .filter(({ seen }) => seen.card.sender === role)
      .toSorted((a, b) => a.from - b.from)
      .map(({ seen, from }): Span => {
        // What ends when the next begins stands in the same row.
        let row = ends.findIndex((end) => end <= from);
        if (row < 0) row = ends.length;
        ends[row] = seen.sent;
        return { seen, row, start: (from - begin) / span, length: (seen.sent - from) / span };
      });
    return { role, rows: Math.max(1, ends.length), spans: own };
  });
  return { span: cards.length > 0 ? span : 1, lanes, ticks: cards.length > 0 ? ticksOf(span) : [] };
}

/** Round steps of which four to ten are in the span. */
function ticksOf(span: number): number[] {
  const rough = span / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, at) => at * step);
}
