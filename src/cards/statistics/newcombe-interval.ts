import { computeWilsonInterval, type IntervalEstimate } from "./wilson-interval.ts";

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
  const distance = (a: number, b: number): number => Math.sqrt(a ** 2 - 2 * phi * a * b + b ** 2);
  const value = second.value - first.value;
  return {
    value,
    low: Math.max(-1, value - distance(second.value - second.low, first.high - first.value)),
    high: Math.min(1, value + distance(second.high - second.value, first.value - first.low)),
  };
}
