/** True in the nightly suite `long-tests`, which takes more samples than `npm test`. Workers have no `process`. */
export const isLongRun: boolean =
  typeof process !== "undefined" && Boolean(process.env["COLLOQUY_LONG_TESTS"]);

/** Returns the number of samples of a test: `count` in `npm test`, and `longCount` with `COLLOQUY_LONG_TESTS=1`. */
export function countRuns(count: number, longCount: number): number {
  return isLongRun ? longCount : count;
}
