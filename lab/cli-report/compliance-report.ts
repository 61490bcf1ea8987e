import { CLI_REQUIREMENT_ID, parseCitedIds } from "../../test/house/requirement-citations.ts";
import {
  CLI_DEFAULTS,
  CLI_ERRORS,
  CLI_REQUIREMENTS,
  CLI_SPEC,
  type CliRequirement,
} from "../../test/house/cli-requirements.ts";

/** One test result in Vitest's JSON report. */
export interface TestOutcome {
  readonly fullName: string;
  readonly status: string;
}

/** The status values of the specification's report (COMPLIANCE.md, appendix A.2) that can occur here. */
export type ComplianceStatus = "pass" | "fail" | "not_measured";

export interface RequirementRow {
  readonly id: string;
  readonly tier: 1 | 2 | 3;
  readonly section: string;
  readonly text: string;
  readonly status: ComplianceStatus;
  /** The reason for a status other than `pass`, or the number of tests. */
  readonly note: string;
}

export interface ComplianceReport {
  readonly rows: readonly RequirementRow[];
  readonly defaults: Readonly<Record<string, boolean>>;
  readonly errors: Readonly<Record<string, boolean>>;
}

/**
 * Creates the report from the test results. A requirement passes only if at least one test verifies it and
 * all its tests passed.
 */
export function createComplianceReport(
  tests: readonly TestOutcome[],
  requirements: readonly CliRequirement[] = CLI_REQUIREMENTS,
): ComplianceReport {
  const passes = (word: string): boolean => {
    const named = tests.filter(({ fullName }) => fullName.includes(word));
    return named.length > 0 && named.every(({ status }) => status === "passed");
  };
  const defaults = Object.fromEntries(
    Object.entries(CLI_DEFAULTS).map(([name, key]) => [key, passes(`default "${name}"`)]),
  );
  const rows = requirements.map(([id, tier, section, text]): RequirementRow => {
    const about = { id, tier, section, text };
    const found = computeRequirementStatus(
      tests.filter(({ fullName }) => parseCitedIds(fullName, CLI_REQUIREMENT_ID).includes(id)),
    );
    const missing = Object.keys(defaults).filter((key) => !defaults[key]);
    if (id === "DEFAULT_001" && found.status === "pass" && missing.length > 0)
      return { ...about, status: "fail", note: `not shown: ${missing.join(", ")}` };
    return { ...about, ...found };
  });
  return { rows, defaults, errors: Object.fromEntries(CLI_ERRORS.map((code) => [code, passes(code)])) };
}

function computeRequirementStatus(tests: readonly TestOutcome[]): { status: ComplianceStatus; note: string } {
  const failed = tests.filter(({ status }) => status === "failed");
  if (failed.length > 0)
    return { status: "fail", note: `fails: ${failed.map((one) => one.fullName).join("; ")}` };
  const passed = tests.filter(({ status }) => status === "passed").length;
  if (passed === 0) return { status: "not_measured", note: "no test of it has run" };
  if (passed < tests.length)
    return { status: "not_measured", note: `only ${passed} of ${tests.length} tests have run` };
  return { status: "pass", note: passed === 1 ? "1 test" : `${passed} tests` };
}

export interface RequirementTierTally {
  readonly total: number;
  readonly pass: number;
  readonly fail: number;
  readonly not_measured: number;
  readonly satisfied: boolean;
}

/**
 * Counts the requirements of a tier. Tiers are cumulative: a tier is satisfied only if all lower tiers are
 * satisfied, too.
 */
export function computeRequirementTierTally({ rows }: ComplianceReport, tier: number): RequirementTierTally {
  const tierRows = rows.filter((row) => row.tier === tier);
  const count = (status: ComplianceStatus): number => tierRows.filter((row) => row.status === status).length;
  const cumulativeRows = rows.filter((row) => row.tier <= tier);
  return {
    total: tierRows.length,
    pass: count("pass"),
    fail: count("fail"),
    not_measured: count("not_measured"),
    satisfied: tierRows.length > 0 && cumulativeRows.every(({ status }) => status === "pass"),
  };
}

export const toFullRequirementId = (id: string): string => CLI_SPEC.prefix + id;
