import { readFileSync } from "node:fs";
import type { CallDirection, InteropResult, InteropSuite } from "./interop-result.ts";
import type { ScenarioOutcome } from "./protocol-variants.ts";

/** A scenario that a peer does not support. */
export interface MissingFeature {
  readonly scenario: string;
  /** Peers and directions, such as `mastra, their client`. */
  readonly runs: readonly string[];
  /** Content of the cell. */
  readonly word: string;
}

/** Scenarios that every framework either runs or lists in `missing-features.json`. */
export const FRAMEWORK_SCENARIOS: readonly string[] = [
  "send",
  "stream",
  "question",
  "follow-up",
  "follow-up stream",
  "sign-in",
  "files",
  "sent files",
  "failure",
  "get",
  "list",
  "auth headers",
  "push delivery",
];

export function readMissingFeatures(): MissingFeature[] {
  const file = new URL("./missing-features.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as MissingFeature[];
}

interface RunOfPeer {
  readonly suite: InteropSuite;
  readonly peer: string;
  readonly sdk: string;
  readonly direction: CallDirection;
}

/**
 * Yields the results of a run, and one result for each scenario that the run did not report. A scenario fails if
 * it succeeds although the list says that the peer does not support it, and if it neither runs nor is listed.
 */
export async function* markMissingFeatures(
  run: RunOfPeer,
  outcomes: AsyncIterable<ScenarioOutcome>,
  missingFeatures: readonly MissingFeature[],
): AsyncGenerator<InteropResult> {
  const name = `${run.peer}, ${run.direction}`;
  const words = new Map(
    missingFeatures.filter(({ runs }) => runs.includes(name)).map(({ scenario, word }) => [scenario, word]),
  );
  const reported = new Set<string>();
  const toMissing = (scenario: string, missing: string): InteropResult => ({
    ...run,
    scenario,
    ok: true,
    missing,
  });
  const toFailure = (scenario: string, detail: string): InteropResult => ({
    ...run,
    scenario,
    ok: false,
    detail,
  });
  for await (const outcome of outcomes) {
    const { scenario, ok } = outcome;
    const word = words.get(scenario);
    reported.add(scenario);
    if (word === undefined) yield { ...run, ...outcome };
    else if (ok)
      yield toFailure(scenario, `missing-features.json lists the scenario ("${word}"), but it succeeds`);
    else yield toMissing(scenario, word);
  }
  for (const scenario of FRAMEWORK_SCENARIOS) {
    if (reported.has(scenario)) continue;
    const word = words.get(scenario);
    yield word === undefined
      ? toFailure(scenario, "The peer does not run the scenario, and missing-features.json does not list it")
      : toMissing(scenario, word);
  }
}
