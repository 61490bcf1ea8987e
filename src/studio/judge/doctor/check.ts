import { toOutcome } from "../acts/run-test.ts";
import { TestFailure } from "../acts/test-run.ts";
import type { Rule } from "../rules/rule.ts";

/**
 * A check of the doctor. `S` is what the check examines: a deployment, or a project. It returns what was seen, and throws
 * with `fail` for a problem, `warn` for a warning, and `NotVerified` otherwise.
 */
export type Check<S> = Rule<S, string>;

/** Checks of one subject, such as proxies. */
export interface CheckGroup<S> {
  readonly name: string;
  readonly checks: readonly Check<S>[];
}

/** The result of a check. */
export interface Diagnosis {
  readonly group: string;
  readonly id: string;
  readonly name: string;
  readonly result: "ok" | "warning" | "problem" | "not checked";
  readonly seen: string;
  readonly remedy?: string;
  /** The last requests of a warning or problem, each with its reply. */
  readonly exchanges?: readonly string[];
}

class Warning extends TestFailure {}

/** Ends a check with the result `warning`. */
export function warn(message: string): never {
  throw new Warning(message);
}

/** Runs checks one after the other. `open` returns what a check examines, and receives a list for its exchanges. */
export async function runChecks<S>(
  groups: readonly CheckGroup<S>[],
  open: (exchanges: string[]) => S,
): Promise<Diagnosis[]> {
  const diagnoses: Diagnosis[] = [];
  for (const { name: group, checks } of groups)
    for (const { id, name, hint, check } of checks) {
      let seen = "";
      let isWarning = false;
      const exchanges: string[] = [];
      const { outcome, reason = "" } = await toOutcome({ exchanges }, async () => {
        try {
          seen = await check(open(exchanges));
        } catch (error) {
          isWarning = error instanceof Warning;
          throw error;
        }
      });
      const base = { group, id, name };
      if (outcome === "passed") diagnoses.push({ ...base, result: "ok", seen });
      else if (outcome === "not verified") diagnoses.push({ ...base, result: "not checked", seen: reason });
      else {
        const result = isWarning ? "warning" : "problem";
        diagnoses.push({ ...base, result, seen: reason, remedy: hint, exchanges: exchanges.slice(-2) });
      }
    }
  return diagnoses;
}
