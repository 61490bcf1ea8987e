/** A quantile of sorted values, between two neighbours in proportion (R's type 7); `NaN` of none. */
export function computeQuantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low === high ? low : low + (high - low) * (place - Math.floor(place));
}

/** What is said of many values. */
export interface DistributionSummary {
  readonly count: number;
  readonly sum: number;
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
}

/** All but the count and the sum are `NaN` of no values. */
export function summarizeDistribution(values: readonly number[]): DistributionSummary {
  const sorted = values.toSorted((a, b) => a - b);
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    count: sorted.length,
    sum,
    mean: sum / sorted.length,
    median: computeQuantile(sorted, 0.5),
    p95: computeQuantile(sorted, 0.95),
  };
}
