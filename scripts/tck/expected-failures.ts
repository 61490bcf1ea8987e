import type { TestReport } from "./junit-report.ts";

/** A failure that is the kit's fault. */
export interface ExpectedFailure {
  /** As in `compatibility/http_json/test_http_status.py::TestHttpJsonStatusCodes::test_task_not_found_returns_404`. */
  readonly test: string;
  /** The runs in which it fails. */
  readonly runs: readonly string[];
  readonly reason: string;
}

/**
 * Says what came out of a run and answers how many outcomes were not expected: failures that are not listed, and listed ones
 * that did not happen.
 */
export function countUnexpectedOutcomes(
  { passed, skipped, failed }: TestReport,
  run: string,
  expected: readonly ExpectedFailure[],
  say: (line: string) => void,
): number {
  const due = expected.filter(({ runs }) => runs.includes(run));
  const unexpected = [...failed].filter(([test]) => !due.some((known) => known.test === test));
  const stale = due.filter(({ test }) => !failed.has(test));
  for (const { test, reason } of due) if (failed.has(test)) say(`  expected: ${test}\n    ${reason}`);
  for (const [test, message] of unexpected) say(`  FAILED: ${test}\n    ${message}`);
  for (const { test } of stale) say(`  STALE: ${test} is listed as a failure and did not fail`);
  say(
    `  ${passed} passed, ${skipped} skipped, ${due.length - stale.length} failed as expected, ${unexpected.length} failed, ${stale.length} stale`,
  );
  return unexpected.length + stale.length;
}
