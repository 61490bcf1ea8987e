import type { TestReport } from "./junit-report.ts";

/** A test failure caused by a bug in the test kit. */
export interface ExpectedFailure {
  /**
   * The test's path, for example
   * `compatibility/http_json/test_http_status.py::TestHttpJsonStatusCodes::test_task_not_found_returns_404`.
   */
  readonly test: string;
  /** Names of the runs in which the test fails. */
  readonly runs: readonly string[];
  readonly reason: string;
  /** The failure depends on the timing of the peer, so that the test may also pass. */
  readonly isIntermittent?: boolean;
}

/**
 * Prints the result of a run. Returns the number of unexpected outcomes: failures that are not listed, and
 * listed failures that did not occur.
 */
export function countUnexpectedOutcomes(
  { passed, skipped, failed }: TestReport,
  run: string,
  expected: readonly ExpectedFailure[],
  print: (line: string) => void,
): number {
  const due = expected.filter(({ runs }) => runs.includes(run));
  const unexpected = [...failed].filter(([test]) => !due.some((known) => known.test === test));
  const passing = due.filter(({ test }) => !failed.has(test));
  const stale = passing.filter(({ isIntermittent }) => !isIntermittent);
  for (const { test, reason } of due) if (failed.has(test)) print(`  expected: ${test}\n    ${reason}`);
  for (const [test, message] of unexpected) print(`  FAILED: ${test}\n    ${message}`);
  for (const { test } of stale) print(`  STALE: ${test} is listed as an expected failure but passed`);
  print(
    `  ${passed} passed, ${skipped} skipped, ${due.length - passing.length} failed as expected, ${unexpected.length} failed, ${stale.length} stale`,
  );
  return unexpected.length + stale.length;
}
