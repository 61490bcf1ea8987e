import type { Binding, Corpus, Level } from "./acts/corpus.ts";
import type { TestInfo, TestResult } from "./acts/run-test.ts";

export const LEVELS: readonly Level[] = ["must", "should", "may"];

/** A test that is known not to pass, with the reason. */
export interface ExpectedException {
  readonly test: string;
  readonly bindings: readonly Binding[];
  readonly outcome: "failed" | "not verified";
  readonly reason: string;
}

/** The results of one binding, with the starts of the agent that they come from. */
export interface BindingReport {
  readonly binding: Binding;
  /** Version of A2A. Default: that of the suites. */
  readonly version?: string;
  readonly results: readonly TestResult[];
}

export interface Tally {
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly notVerified: number;
}

export function count(results: readonly TestResult[], level?: Level): Tally {
  const chosen = level ? results.filter(({ test }) => test.level === level) : results;
  const countOutcome = (wanted: TestResult["outcome"]): number =>
    chosen.filter(({ outcome }) => outcome === wanted).length;
  return {
    total: chosen.length,
    passed: countOutcome("passed"),
    failed: countOutcome("failed"),
    notVerified: countOutcome("not verified"),
  };
}

/**
 * Returns what differs from the list of exceptions: a test that did not pass without an entry, and an entry whose test
 * has another outcome.
 */
export function findUnexpected(
  { binding, results }: BindingReport,
  exceptions: readonly ExpectedException[],
): string[] {
  return results.flatMap(({ test, outcome, reason = "" }) => {
    const entry = exceptions.find(({ test: id, bindings }) => id === test.id && bindings.includes(binding));
    const expected = entry?.outcome ?? "passed";
    if (outcome === expected) return [];
    const result = `${test.id} on ${binding}: ${outcome}${reason === "" ? "" : ` (${reason})`}`;
    return [
      entry ? `${result}, but the list of exceptions says ${expected}.` : `${result}, without an exception.`,
    ];
  });
}

/** Entries of the list of exceptions that name no test of the corpus on their binding. */
export function findUnknownExceptions(
  exceptions: readonly ExpectedException[],
  tests: readonly Pick<TestInfo, "id" | "transport">[],
): string[] {
  return exceptions.flatMap(({ test: id, bindings }) => {
    const test = tests.find((candidate) => candidate.id === id);
    const wrong = bindings.filter(
      (binding) => !test || (test.transport && !test.transport.includes(binding)),
    );
    return wrong.map(
      (binding) => `The list of exceptions names ${id} on ${binding}, which is not in the corpus.`,
    );
  });
}

/** Creates the JSON report of ACTS §13. A test that is not verified has the result `skip`. */
export function createJsonReport(
  { binding, version, results }: BindingReport,
  { actsVersion, specVersion }: Pick<Corpus, "actsVersion" | "specVersion">,
  sdk: { readonly name: string; readonly version: string },
): object {
  const tally = (level?: Level): object => {
    const { total, passed, failed, notVerified } = count(results, level);
    return { total, passed, failed, skipped: notVerified, errors: 0 };
  };
  const suites = Map.groupBy(results, ({ test }) => test.suite.id);
  return {
    acts_version: actsVersion,
    spec_version: version ?? specVersion,
    generated_at: new Date().toISOString(),
    sdk: { ...sdk, language: "typescript" },
    transport: binding,
    environment: { runner: "colloquy", node: process.version, platform: process.platform },
    summary: {
      ...tally(),
      duration_ms: results.reduce((sum, { durationMs }) => sum + durationMs, 0),
      by_level: Object.fromEntries(LEVELS.map((level) => [level, tally(level)])),
    },
    suites: [...suites].map(([id, members]) => ({
      id,
      name: members[0]?.test.suite.name ?? id,
      tests: members.map(({ test, outcome, reason = "", step, durationMs, exchanges }) => ({
        id: test.id,
        name: test.name,
        level: test.level,
        result: { passed: "pass", failed: "fail", "not verified": "skip" }[outcome],
        duration_ms: durationMs,
        ...(exchanges ? { exchanges } : {}),
        ...(outcome === "not verified" ? { skip_reason: reason } : {}),
        ...(outcome === "failed" ? { failure: { message: reason, ...(step ? { step_id: step } : {}) } } : {}),
      })),
    })),
  };
}
