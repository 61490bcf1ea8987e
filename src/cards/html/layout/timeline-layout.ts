import { buildDelegatedTaskForest } from "../../views/delegated-task-forest.ts";
import { flattenDelegations } from "../../views/sample-delegation-forests.ts";
import { listRolesInCards } from "../run-statistics.ts";
import type { PageCard } from "../run-model.ts";
import { computeLastArrivalTime } from "../sample-summary.ts";

/**
 * Layout of a timeline with one lane for each role. Positions and lengths in the timeline are fractions of
 * the total duration.
 */
interface TimelineLayout {
  /** Total duration of the timeline in milliseconds, at least 1. */
  readonly totalMs: number;
  readonly lanes: readonly TimelineLane[];
  /** Times of the scale marks in milliseconds. */
  readonly ticks: readonly number[];
}

interface TimelineLane {
  readonly role: string;
  /** Number of rows in the lane, more than 1 if the role worked on several message cards at the same time. */
  readonly rowCount: number;
  readonly bars: readonly TimelineBar[];
}

/**
 * Bar for the work on a message card. The length of the bar is the reported duration. If no duration was
 * reported, the length is the time since the sender's previous message card. A bar without a duration is
 * drawn as a mark.
 */
interface TimelineBar {
  readonly pageCard: PageCard;
  readonly row: number;
  /** Start of the bar as a fraction of the total duration, from 0 to 1. */
  readonly start: number;
  /** Length of the bar as a fraction of the total duration, from 0 to 1. */
  readonly length: number;
}

export function computeTimelineLayout(cards: readonly PageCard[]): TimelineLayout {
  const spans = new Map(
    flattenDelegations(buildDelegatedTaskForest(cards).roots).flatMap((one) =>
      one.workSpans.map((span) => [span.card, span] as const),
    ),
  );
  const works = cards.map((seen) => ({
    seen,
    from: Math.min(seen.sentMs, spans.get(seen.card)?.start ?? seen.sentMs),
  }));
  const begin = works.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY);
  const span = Math.max(1, computeLastArrivalTime(cards) - begin) || 1;
  const lanes = listRolesInCards(cards.map(({ card }) => card)).map((role): TimelineLane => {
    const ends: number[] = [];
    const bars = works
      .filter(({ seen }) => seen.card.sender === role)
      .toSorted((a, b) => a.from - b.from)
      .map(({ seen, from }): TimelineBar => {
        // A bar may start in a row at the time at which the previous bar ends.
        let row = ends.findIndex((end) => end <= from);
        if (row < 0) row = ends.length;
        ends[row] = seen.sentMs;
        return { pageCard: seen, row, start: (from - begin) / span, length: (seen.sentMs - from) / span };
      });
    return { role, rowCount: Math.max(1, ends.length), bars };
  });
  return { totalMs: cards.length > 0 ? span : 1, lanes, ticks: cards.length > 0 ? computeTicks(span) : [] };
}

/**
 * Returns the times of the scale marks. The distance between two marks is 1, 2, 5, or 10 times a power of
 * ten.
 */
function computeTicks(span: number): number[] {
  const rough = span / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, at) => at * step);
}
