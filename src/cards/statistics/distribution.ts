import type { ScoreLine } from "../recording/index.ts";

/** Returns the sum of a number for each item. */
export function sumBy<Item>(items: readonly Item[], getValue: (item: Item) => number): number {
  return items.reduce((total, item) => total + getValue(item), 0);
}

/** Returns the arithmetic mean, or `NaN` if there are no values. */
export function computeMean(values: readonly number[]): number {
  return sumBy(values, Number) / values.length;
}

/** Returns the mean of each additional measure, over the problems that have the measure. */
export function computeMeasureMeans(scores: readonly Pick<ScoreLine, "measures">[]): Record<string, number> {
  const entries = scores.flatMap(({ measures = {} }) => Object.entries(measures));
  return Object.fromEntries(
    [...Map.groupBy(entries, ([name]) => name)].map(([name, group]) => [
      name,
      computeMean(group.map(([, value]) => value)),
    ]),
  );
}

/**
 * Returns a quantile of sorted values by linear interpolation (R's type 7), or `NaN` if there are no values.
 */
export function computeQuantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low === high ? low : low + (high - low) * (place - Math.floor(place));
}

/** Summary of a list of values. */
export interface DistributionSummary {
  readonly count: number;
  readonly sum: number;
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
}

/** Summarizes values. Without values, all figures except the count and the sum are `NaN`. */
export function summarizeDistribution(values: readonly number[]): DistributionSummary {
  const sorted = values.toSorted((a, b) => a - b);
  const sum = sumBy(sorted, Number);
  return {
    count: sorted.length,
    sum,
    mean: sum / sorted.length,
    median: computeQuantile(sorted, 0.5),
    p95: computeQuantile(sorted, 0.95),
  };
}
