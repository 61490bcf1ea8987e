import { A2AError } from "../../protocol/index.ts";

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
  const z2 = z ** 2;
  const value = successes / trials;
  const middle = (successes + z2 / 2) / (trials + z2);
  const half = Math.sqrt(z2 * (value * (1 - value) * trials + z2 / 4)) / (trials + z2);
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

const Z_95_PERCENT = 1.959963984540054;
