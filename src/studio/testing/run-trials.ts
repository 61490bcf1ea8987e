/** The result of several trials of one test. */
export interface TrialReport {
  readonly trials: number;
  readonly passed: number;
  /** The errors of the failed trials, in the order of the trials. */
  readonly errors: readonly unknown[];
  /**
   * Estimates the probability that at least one of `k` trials passes (pass@k), without bias, from all trials. `k` must
   * not exceed the number of trials.
   */
  passAtK(k: number): number;
  /** Estimates the probability that all of `k` trials pass (pass^k), without bias, from all trials. */
  passHatK(k: number): number;
}

/**
 * Runs a test several times, because a model answers differently each time. A trial passes unless `test` throws.
 * `test` receives the index of the trial, which can serve as a seed.
 */
export async function runTrials(
  trials: number,
  test: (index: number) => unknown,
  { concurrency = 1 }: { readonly concurrency?: number } = {},
): Promise<TrialReport> {
  if (!Number.isInteger(trials) || trials < 1)
    throw new RangeError(`The number of trials is ${trials}; use a whole number from 1.`);
  const errors: { index: number; error: unknown }[] = [];
  const waiting = Array.from({ length: trials }, (_, index) => index).values();
  const runNext = async (): Promise<void> => {
    for (const index of waiting) {
      try {
        await test(index);
      } catch (error) {
        errors.push({ index, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, runNext));
  const passed = trials - errors.length;
  return {
    trials,
    passed,
    errors: errors.toSorted((a, b) => a.index - b.index).map(({ error }) => error),
    passAtK: (k) => 1 - computeShare(errors.length, trials, k),
    passHatK: (k) => computeShare(passed, trials, k),
  };
}

/** Returns the share of all samples of `k` of `total` trials that consist of the `count` trials only: C(count, k) / C(total, k). */
function computeShare(count: number, total: number, k: number): number {
  if (!Number.isInteger(k) || k < 1 || k > total)
    throw new RangeError(`k is ${k}; use a whole number from 1 to ${total}, the number of trials.`);
  let share = 1;
  for (let at = 0; at < k; at++) share *= Math.max(0, count - at) / (total - at);
  return share;
}
