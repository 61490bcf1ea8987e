import { describe, expect, it } from "vitest";
import {
  createComplianceReport,
  computeRequirementTierTally,
  type TestOutcome,
} from "./compliance-report.ts";
import { renderComplianceReportMarkdown, renderComplianceReportYaml } from "./report-formats.ts";
import { CLI_DEFAULTS, CLI_REQUIREMENTS, type CliRequirement } from "../../test/house/cli-requirements.ts";

const REQUIREMENTS: CliRequirement[] = [
  ["SEND_001", 1, "1", "sends"],
  ["SEND_002", 1, "1", "waits"],
  ["AUTH_005", 2, "1", "logs in"],
];
const createPassedTest = (fullName: string): TestOutcome => ({ fullName, status: "passed" });

describe("the report on the CLI specification", () => {
  it("counts a requirement as passed only if its tests passed", () => {
    const { rows } = createComplianceReport(
      [createPassedTest("a [SEND_001]"), createPassedTest("b [SEND_001, SEND_002]")],
      REQUIREMENTS,
    );
    expect(rows.map(({ status, note }) => [status, note])).toEqual([
      ["pass", "2 tests"],
      ["pass", "1 test"],
      ["not_measured", "no test of it has run"],
    ]);
  });

  it.each([
    ["nothing has run", []],
    [
      "one test fails",
      [createPassedTest("a [SEND_001]"), { fullName: "b [SEND_001, SEND_002]", status: "failed" }],
    ],
    [
      "one test was left out",
      [createPassedTest("a [SEND_001]"), { fullName: "b [SEND_001, SEND_002]", status: "skipped" }],
    ],
    [
      "an id is only near",
      [
        createPassedTest("a [SEND_001]"),
        createPassedTest("SEND_002"),
        createPassedTest("a [SEND_002 or so]"),
      ],
    ],
  ])("says of no tier that it is satisfied when %s", (_, tests) => {
    const report = createComplianceReport(tests, REQUIREMENTS);
    expect([1, 2, 3].map((tier) => computeRequirementTierTally(report, tier).satisfied)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it("requires a test for every default before DEFAULT_001 passes", () => {
    const all = Object.keys(CLI_DEFAULTS).map((name) =>
      createPassedTest(`default "${name}": … [DEFAULT_001]`),
    );
    const rows: CliRequirement[] = [["DEFAULT_001", 1, "6.5", "six defaults"]];
    expect(createComplianceReport(all, rows).rows[0]?.status).toBe("pass");
    expect(createComplianceReport(all.slice(1), rows).rows[0]).toMatchObject({
      status: "fail",
      note: expect.stringContaining("not shown") as string,
    });
    expect(computeRequirementTierTally(createComplianceReport(all.slice(1), rows), 1).satisfied).toBe(false);
  });

  it("contains every id of every tier as YAML and as Markdown", () => {
    const report = createComplianceReport([]);
    const about = { version: "1", date: "2026-01-01", node: "v24", startup: undefined };
    for (const [id] of CLI_REQUIREMENTS) {
      expect(renderComplianceReportYaml(report, about)).toContain(`\n  A2ACLI_${id}:\n`);
      expect(renderComplianceReportMarkdown(report, about)).toContain(`| \`A2ACLI_${id}\` |`);
    }
    expect(renderComplianceReportYaml(report, about)).toContain("tier_1: {total: 39, pass: 0,");
  });
});
