import type { ScoreLine } from "../recording/index.ts";

export function sumBy<Item>(items: readonly Item[], getValue: (item: Item) => number): number {
  return items.reduce((total, item) => total + getValue(item), 0);
}

/** Returns the arithmetic mean of numbers, or `NaN` if the list is empty. */
export function computeMean(values: readonly number[]): number {
  return sumBy(values, Number) / values.length;
}

/** Returns the mean of each additional measure, over the problems with that measure. */
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
 * Returns a quantile of sorted numbers by linear interpolation (R's type 7), or `NaN` if the list is empty.
 */
export function computeQuantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low === high ? low : low + (high - low) * (place - Math.floor(place));
}

/** Count, sum, mean, median, and 95th percentile of a list of numbers. */
export interface DistributionSummary {
  readonly count: number;
  readonly sum: number;
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
}

/** Summarizes a list of numbers. If the list is empty, the mean, median, and 95th percentile are `NaN`. */
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

/** Counts items by key. */
export function countBy<Item>(
  items: readonly Item[],
  getKey: (item: Item) => string,
): Record<string, number> {
  // The object has no prototype, because a message type may be called `constructor`.
  const counts = Object.create(null) as Record<string, number>;
  for (const item of items) counts[getKey(item)] = (counts[getKey(item)] ?? 0) + 1;
  return counts;
}
