import { A2AError } from "../../protocol/index.ts";
import type { ScoreLine } from "../recording/index.ts";

/** Estimated value with its confidence interval of 95 %. */
export interface IntervalEstimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Computes Wilson's score interval for a proportion, without continuity correction. The formula follows
 * Wilson (1927) and R's `prop.test(correct = FALSE)`. The interval stays between 0 and 1 and is never empty,
 * even if all trials succeed. `z` is the two-sided quantile of the standard normal distribution.
 */
export function computeWilsonInterval(
  successes: number,
  trials: number,
  z: number = Z_95_PERCENT,
): IntervalEstimate {
  if (!Number.isSafeInteger(trials) || trials < 1 || !Number.isSafeInteger(successes))
    throw new A2AError(
      "INVALID_PARAMS",
      `${successes} of ${trials}: the counts of a proportion must be integers, with at least one trial.`,
    );
  if (successes < 0 || successes > trials)
    throw new A2AError(
      "INVALID_PARAMS",
      `${successes} of ${trials}: successes must be between 0 and the number of trials.`,
    );
  return computeScoreInterval(successes / trials, trials, z);
}

/** Computes Wilson's interval. The number of trials may be a fraction, as an effective sample size is. */
function computeScoreInterval(value: number, trials: number, z = Z_95_PERCENT): IntervalEstimate {
  const z2 = z ** 2;
  const middle = (value * trials + z2 / 2) / (trials + z2);
  const half = Math.sqrt(z2 * (value * (1 - value) * trials + z2 / 4)) / (trials + z2);
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

const Z_95_PERCENT = 1.959963984540054;

/**
 * Computes Newcombe's interval for the difference of two paired proportions, which combines the Wilson
 * intervals of both proportions (Newcombe 1998, Statistics in Medicine 17, 2635–2650, method 10). Unlike a
 * bootstrap interval, the interval is not empty for a few pairs or for equal proportions.
 * `first` and `second` state for each pair whether the first and the second method were correct. The difference
 * is the second proportion minus the first.
 */
export function computeNewcombeInterval(
  pairs: readonly (readonly [first: boolean, second: boolean])[],
): IntervalEstimate {
  const count = (first: boolean, second: boolean): number =>
    pairs.filter((pair) => pair[0] === first && pair[1] === second).length;
  const [both, onlyFirst] = [count(true, true), count(true, false)];
  const [onlySecond, none] = [count(false, true), count(false, false)];
  const n = pairs.length;
  const first = computeWilsonInterval(both + onlyFirst, n);
  const second = computeWilsonInterval(both + onlySecond, n);
  const product = both * none - onlyFirst * onlySecond;
  const margins = (both + onlyFirst) * (onlySecond + none) * (both + onlySecond) * (onlyFirst + none);
  // The continuity correction applies only to a positive correlation.
  const phi = margins === 0 ? 0 : (product > 0 ? Math.max(0, product - n / 2) : product) / Math.sqrt(margins);
  return computePairedDifference(first, second, phi);
}

/** Combines the intervals of two proportions whose correlation is `phi`. */
function computePairedDifference(
  first: IntervalEstimate,
  second: IntervalEstimate,
  phi: number,
): IntervalEstimate {
  const distance = (a: number, b: number): number => Math.sqrt(a ** 2 - 2 * phi * a * b + b ** 2);
  const value = second.value - first.value;
  return {
    value,
    low: Math.max(-1, value - distance(second.value - second.low, first.high - first.value)),
    high: Math.min(1, value + distance(second.high - second.value, first.value - first.low)),
  };
}

/**
 * Computes the interval of a proportion whose trials form clusters of `size` trials, for example several runs on the same
 * problems. `shares` contains the share of successes of each cluster. The interval is Wilson's with the effective sample
 * size that follows from the cluster-robust variance of the mean. If the variance is 0, the clusters are the sample.
 */
export function computeClusteredInterval(shares: readonly number[], size: number): IntervalEstimate {
  const count = shares.length;
  const value = computeMean(shares);
  const variance = sumBy(shares, (share) => (share - value) ** 2) / (count * (count - 1));
  const effective = variance > 0 ? (value * (1 - value)) / variance : count;
  return computeScoreInterval(value, Math.min(effective, count * size));
}

/** Computes the interval of the second proportion minus the first one. Both lists have the same clusters. */
export function computeClusteredDifference(
  first: readonly number[],
  second: readonly number[],
  size: number,
): IntervalEstimate {
  const [a, b] = [computeMean(first), computeMean(second)];
  const covariance = sumBy([...first.keys()], (at) => ((first[at] ?? 0) - a) * ((second[at] ?? 0) - b));
  const spread = Math.sqrt(sumBy(first, (x) => (x - a) ** 2) * sumBy(second, (x) => (x - b) ** 2));
  return computePairedDifference(
    computeClusteredInterval(first, size),
    computeClusteredInterval(second, size),
    spread === 0 ? 0 : covariance / spread,
  );
}

/** P-values of McNemar's test. */
export interface McNemarResult {
  /** Two-sided p-value of the exact conditional test, which is conservative. */
  readonly exact: number;
  /**
   * Two-sided mid-p value, which is less conservative than the exact p-value. Fagerland, Lydersen, and Laake
   * (2013) recommend the mid-p value.
   */
  readonly midP: number;
}

/**
 * Runs McNemar's test to check whether two methods differ. The arguments are the numbers of problems that
 * only one of the two methods solved.
 */
export function computeMcNemarTest(onlyFirst: number, onlySecond: number): McNemarResult {
  for (const count of [onlyFirst, onlySecond])
    if (!Number.isSafeInteger(count) || count < 0)
      throw new A2AError("INVALID_PARAMS", `${count} discordant pairs: pass a non-negative integer.`);
  const pairs = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  // Probability of at most `fewer` heads in `pairs` coin tosses. It is computed with logarithms, because
  // 2^-1319 underflows.
  let logarithm = -pairs * Math.LN2;
  let tail = Math.exp(logarithm);
  for (let count = 1; count <= fewer; count += 1) {
    logarithm += Math.log((pairs - count + 1) / count);
    tail += Math.exp(logarithm);
  }
  const observed = Math.exp(logarithm);
  if (pairs === 0) return { exact: 1, midP: 1 };
  return onlyFirst === onlySecond
    ? { exact: 1, midP: 1 - observed / 2 }
    : { exact: Math.min(1, 2 * tail), midP: Math.min(1, 2 * tail - observed) };
}

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

/** Returns how a problem ended. Older records have no outcomes, but errors and answers. */
export function getScoreOutcome({
  outcome,
  error,
  predicted,
}: Pick<ScoreLine, "outcome" | "error" | "predicted">): string {
  if (outcome !== undefined) return outcome;
  if (error !== undefined) return "error";
  return predicted === undefined ? "no_answer" : "answered";
}

/** Returns whether a method gave an answer, in the requested format or not. */
export function isAnsweredOutcome(outcome: string): boolean {
  return outcome === "answered" || outcome === "unmarked";
}
