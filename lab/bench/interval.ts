/** Median of independent measurements, with an interval of the true median that assumes no distribution. */
export interface MedianInterval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** Probability that the interval contains the true median, between 0 and 1. */
  readonly confidence: number;
}

/**
 * Computes the median and its sign-test interval: the narrowest pair of order statistics that contains the true median
 * with the given probability. With 7 values, this is the range from the smallest to the largest value (98.4 %). Fewer than
 * 6 values do not reach 95 %, and `confidence` then states what their range reaches.
 */
export function computeMedianInterval(values: readonly number[], minConfidence = 0.95): MedianInterval {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  if (count === 0) return { median: Number.NaN, low: Number.NaN, high: Number.NaN, confidence: 0 };
  let rank = 0;
  while (computeConfidence(count, rank + 1) >= minConfidence) rank++;
  return {
    median: computeMedian(sorted),
    low: sorted[rank]!,
    high: sorted[count - 1 - rank]!,
    confidence: computeConfidence(count, rank),
  };
}

/**
 * Returns the probability that the true median lies between the order statistics `rank` and `count - 1 - rank`: that of
 * `count` fair coins, more than `rank` show each side.
 */
function computeConfidence(count: number, rank: number): number {
  if (2 * rank >= count - 1) return 0;
  let outside = 0;
  let combinations = 1;
  for (let heads = 0; heads <= rank; heads++) {
    outside += combinations;
    combinations = (combinations * (count - heads)) / (heads + 1);
  }
  return 1 - (2 * outside) / 2 ** count;
}

/** Returns the median of the values. */
export function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? (upper + (sorted[middle - 1] ?? upper)) / 2 : upper;
}

/** Divides the values of two systems round by round. Both values of a ratio were measured within the same round. */
export function computeRatios(mine: readonly number[], theirs: readonly number[]): number[] {
  return mine.slice(0, theirs.length).map((value, round) => value / (theirs[round] ?? Number.NaN));
}

/** Returns the median of the ratios of the rounds. */
export function computeMedianRatio(mine: readonly number[], theirs: readonly number[]): number {
  return computeMedian(computeRatios(mine, theirs));
}
