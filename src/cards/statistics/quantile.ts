/** A quantile of sorted values, between two neighbours in proportion (R's type 7); `NaN` of none. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low === high ? low : low + (high - low) * (place - Math.floor(place));
}

/** What is said of many values. */
export interface Spread {
  readonly count: number;
  readonly sum: number;
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
}

/** All but the count and the sum are `NaN` of no values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    count: sorted.length,
    sum,
    mean: sum / sorted.length,
    median: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
  };
}
