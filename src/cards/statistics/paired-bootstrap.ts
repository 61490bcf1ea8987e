import { A2AError } from "../../protocol/index.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { computeQuantile } from "./distribution.ts";
import type { IntervalEstimate } from "./wilson-interval.ts";

/**
 * Computes the bootstrap percentile interval for a statistic of paired values. The bootstrap draws problems
 * with replacement and draws both values of a problem together. The `statistic` callback receives the sum of
 * the first values, the sum of the second values, and the number of drawn problems.
 */
export function computePairedBootstrap(
  pairs: readonly (readonly [first: number, second: number])[],
  statistic: (first: number, second: number, count: number) => number,
  resamples = 2_000,
): IntervalEstimate {
  if (pairs.length === 0)
    throw new A2AError("INVALID_PARAMS", "Nothing to resample. Compare runs that have samples.");
  const random = createSeededRandom(1);
  const drawn = Array.from({ length: resamples }, () => {
    let first = 0;
    let second = 0;
    for (let draw = 0; draw < pairs.length; draw += 1) {
      const pair = pairs[Math.floor(random() * pairs.length)] ?? [0, 0];
      first += pair[0];
      second += pair[1];
    }
    return statistic(first, second, pairs.length);
  }).toSorted((a, b) => a - b);
  const sums = pairs.reduce(([a, b], [first, second]) => [a + first, b + second] as const, [0, 0] as const);
  return {
    value: statistic(sums[0], sums[1], pairs.length),
    low: computeQuantile(drawn, 0.025),
    high: computeQuantile(drawn, 0.975),
  };
}
