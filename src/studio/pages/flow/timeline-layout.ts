/** A period of work in a timeline. */
export interface TimelineWork {
  /** Unique key of the work within the timeline. */
  readonly key: string;
  /** Name of the lane, such as the role or the agent that works. */
  readonly lane: string;
  /** Start and end in milliseconds on the clock of the record. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Text inside the bar, shown if the bar is wide enough. */
  readonly label: string;
  /** CSS class that selects the color of the bar. */
  readonly colorClass: string;
  /** Description for screen readers. */
  readonly description: string;
  /** Whether the work is on the critical path. */
  readonly isCritical?: boolean;
  /** Whether the bar is hatched, as for waiting. */
  readonly isWaiting?: boolean;
}

/** Layout of a timeline. Positions and lengths are fractions of the total duration. */
export interface TimelineLayout {
  /** Total duration of the timeline in milliseconds, at least 1. */
  readonly totalMs: number;
  readonly lanes: readonly TimelineLane[];
  /** Times of the scale marks in milliseconds since the start. */
  readonly ticks: readonly number[];
}

interface TimelineLane {
  readonly name: string;
  /** Number of rows in the lane, more than 1 if periods of work overlap. */
  readonly rowCount: number;
  readonly bars: readonly TimelineBar[];
}

export interface TimelineBar {
  readonly work: TimelineWork;
  readonly row: number;
  /** Start of the bar as a fraction of the total duration, from 0 to 1. */
  readonly start: number;
  /** Length of the bar as a fraction of the total duration, from 0 to 1. */
  readonly length: number;
}

/**
 * Computes the layout of a timeline with one lane for each name in `lanes`. The timeline ends at `endMs`, or at
 * the end of the last work if that is later.
 */
export function computeTimelineLayout(
  works: readonly TimelineWork[],
  lanes: readonly string[],
  endMs = Number.NEGATIVE_INFINITY,
): TimelineLayout {
  let [begin, end] = [Number.POSITIVE_INFINITY, endMs];
  for (const { fromMs, toMs } of works) {
    begin = Math.min(begin, fromMs);
    end = Math.max(end, toMs);
  }
  const totalMs = works.length > 0 ? Math.max(1, end - begin) : 1;
  const worksByLane = Map.groupBy(works, ({ lane }) => lane);
  return {
    totalMs,
    ticks: works.length > 0 ? computeTicks(totalMs) : [],
    lanes: lanes.map((name) => {
      const rowEnds: number[] = [];
      const bars = (worksByLane.get(name) ?? [])
        .toSorted((a, b) => a.fromMs - b.fromMs)
        .map((work): TimelineBar => {
          // A bar may start in a row at the time at which the previous bar ends.
          const free = rowEnds.findIndex((rowEnd) => rowEnd <= work.fromMs);
          const row = free < 0 ? rowEnds.length : free;
          rowEnds[row] = work.toMs;
          const [start, length] = [work.fromMs - begin, work.toMs - work.fromMs];
          return { work, row, start: start / totalMs, length: length / totalMs };
        });
      return { name, rowCount: Math.max(1, rowEnds.length), bars };
    }),
  };
}

/**
 * Returns the bars of a lane that are visible at `widthPx` pixels. Bars narrower than a pixel that share their
 * pixel with another bar of the row are omitted, so that the number of bars is limited by the width.
 */
export function listVisibleBars(
  bars: readonly TimelineBar[],
  widthPx: number,
  selectedKey: string | undefined,
): readonly TimelineBar[] {
  const lastPixelOfRow: number[] = [];
  return bars.filter(({ work, row, start, length }) => {
    const pixel = Math.floor((start + length) * widthPx);
    const isHidden = pixel === lastPixelOfRow[row] && work.key !== selectedKey && work.isCritical !== true;
    lastPixelOfRow[row] = pixel;
    return !isHidden;
  });
}

/** Returns the times of the scale marks. The distance of two marks is 1, 2, 5, or 10 times a power of ten. */
function computeTicks(totalMs: number): number[] {
  const rough = totalMs / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(totalMs / step) + 1 }, (_, index) => index * step);
}
