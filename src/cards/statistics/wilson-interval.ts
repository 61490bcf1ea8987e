import { A2AError } from "../../protocol/index.ts";

/** How sure an interval is. */
export type ConfidenceLevel = 0.9 | 0.95 | 0.99;

/** A value and the interval around it. */
export interface IntervalEstimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Wilson's score interval of a proportion, without continuity correction (Wilson 1927; R's
 * `prop.test(correct = FALSE)`). It stays within 0 and 1 and has a width even when all went right.
 */
export function computeWilsonInterval(
  successes: number,
  trials: number,
  confidence: ConfidenceLevel = 0.95,
): IntervalEstimate {
  if (!Number.isSafeInteger(trials) || trials < 1 || !Number.isSafeInteger(successes))
    throw new A2AError(
      "INVALID_PARAMS",
      `${successes} of ${trials}: a proportion is of counts; give at least one trial.`,
    );
  if (successes < 0 || successes > trials)
    throw new A2AError(
      "INVALID_PARAMS",
      `${successes} of ${trials}: successes are among the trials; count again.`,
    );
  const z2 = Z_SCORES[confidence] ** 2;
  const value = successes / trials;
  const middle = (successes + z2 / 2) / (trials + z2);
  const half = Math.sqrt(z2 * (value * (1 - value) * trials + z2 / 4)) / (trials + z2);
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** Two-sided quantiles of the normal distribution. */
const Z_SCORES: Readonly<Record<ConfidenceLevel, number>> = {
  0.9: 1.6448536269514722,
  0.95: 1.959963984540054,
  0.99: 2.5758293035489004,
};
