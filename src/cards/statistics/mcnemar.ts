import { A2AError } from "../../protocol/index.ts";

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
