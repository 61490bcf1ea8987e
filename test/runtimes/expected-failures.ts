import type { ExpectedFailure } from "../../scripts/tck/count-unexpected-outcomes.ts";
import type { SuiteName } from "./runtime-table.ts";

/** Returns the name of a run in the list of expected failures. */
export function getRunName(runtime: string, suite: SuiteName): string {
  return `${runtime}, ${suite}`;
}

/**
 * The `fetch` of Bun discards bytes that arrive just before the connection breaks, so that no client can read them. The
 * server of these tests breaks the connection as soon as the operating system has the bytes.
 */
const DISCARDED_BYTES = "fetch of Bun discards bytes that arrive just before the connection breaks";

const LOST_CONNECTION_TESTS = [
  "resumes after the last event without loss or repetition (cut) [E3, E4]",
  "ends with the complete task if it has ended in the meantime [F-51]",
  "ends with the complete task if the server no longer finds the stopped agent: TASK_STATE_COMPLETED [F-51]",
  "ends with the complete task if the server no longer finds the stopped agent: TASK_STATE_INPUT_REQUIRED [F-51]",
  "is complete if no events remained [G-02, G-04]",
  "continues after a question if it is a subscription [F-52]",
  "does not confuse the answered question with the next one [F-15]",
];

const RETRY_TESTS = [
  "wait longer each time, with jitter, and start over after progress",
  "end after the maximum, and the error contains the position",
];

/** The tests that a runtime cannot pass. `npm run runtimes` fails if another test fails, or if one of them passes. */
export const EXPECTED_FAILURES: readonly ExpectedFailure[] = [
  ...LOST_CONNECTION_TESTS.map((test) => `a stream that loses its connection > ${test}`),
  ...RETRY_TESTS.map((test) => `the retries of a stream > ${test}`),
].map((test) => ({ test, runs: [getRunName("Bun", "client")], reason: DISCARDED_BYTES }));
