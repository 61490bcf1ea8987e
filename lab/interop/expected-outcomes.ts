import { type ExpectedFailure, countUnexpectedOutcomes } from "../tck/count-unexpected-outcomes.ts";
import { getResultName, type InteropResult } from "./interop-result.ts";

/** A failure that the peer itself causes. */
export interface ExpectedInteropFailure extends ExpectedFailure {
  /** The peer's client fails in the same scenario with the peer's own server. */
  readonly failsOnOwnServer?: boolean;
}

/**
 * Compares the results of one peer with the expected failures. Returns the number of unexpected outcomes:
 * unlisted failures, listed failures that did not occur, and reproductions that did not fail.
 * Results of `own server` are evidence, not part of the gate.
 */
export function countUnexpectedResults(
  results: readonly InteropResult[],
  expected: readonly ExpectedInteropFailure[],
  print: (line: string) => void,
): number {
  const runs = Map.groupBy(results, ({ peer, direction }) => `${peer}, ${direction}`);
  let unexpected = 0;
  for (const [run, rows] of runs) {
    if (rows[0]?.direction === "own server") continue;
    const failures = rows.filter(({ ok }) => !ok);
    const report = {
      passed: rows.filter(({ ok, missing }) => ok && missing === undefined).length,
      skipped: rows.filter(({ missing }) => missing !== undefined).length,
      failed: new Map(failures.map((row) => [getResultName(row), row.detail ?? ""])),
    };
    print(`${run}:`);
    unexpected += countUnexpectedOutcomes(report, run, expected, print);
    for (const { test, runs: names, failsOnOwnServer } of expected) {
      if (!failsOnOwnServer || !names.includes(run)) continue;
      const reproduction = results.find(
        (row) =>
          row.direction === "own server" &&
          getResultName(row) === test &&
          `${row.peer}, their client` === run,
      );
      if (reproduction && !reproduction.ok) {
        print(`  ${test} also fails with the peer's own server: ${reproduction.detail?.split("\n")[0]}`);
        continue;
      }
      print(`  STALE: ${test} is listed with failsOnOwnServer, but the peer's own server passes`);
      unexpected += 1;
    }
  }
  return unexpected;
}
