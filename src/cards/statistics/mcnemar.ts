import { A2AError } from "../../protocol/index.ts";

export interface McNemarResult {
  /** Two-sided, exact conditional: never too small. */
  readonly exact: number;
  /** Two-sided mid-p: less conservative, recommended by Fagerland, Lydersen and Laake 2013. */
  readonly midP: number;
}

/** Whether two methods differ, from the problems that exactly one of them solved: so many only here, so many only there. */
export function computeMcNemarTest(onlyFirst: number, onlySecond: number): McNemarResult {
  for (const count of [onlyFirst, onlySecond])
    if (!Number.isSafeInteger(count) || count < 0)
      throw new A2AError("INVALID_PARAMS", `${count} discordant pairs: count whole pairs.`);
  const pairs = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  // Probabilities of 0, 1, … `fewer` of the pairs by tossing coins; in logarithms, because 2^-1319 is no number.
  let logarithm = -pairs * Math.LN2;
  let tail = Math.exp(logarithm);
  for (let count = 1; count <= fewer; count += 1) {
    logarithm += Math.log((pairs - count + 1) / count);
    tail += Math.exp(logarithm);
  }
  const observed = Math.exp(logarithm);
  return onlyFirst === onlySecond
    ? { exact: 1, midP: 1 - observed / 2 }
    : { exact: Math.min(1, 2 * tail), midP: Math.min(1, 2 * tail - observed) };
}
