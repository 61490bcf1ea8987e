import { describe, expect, it } from "vitest";
import { reportOf, tallyOf, type TestOutcome } from "../scripts/cli-report/report.ts";
import { toMarkdown, toYaml } from "../scripts/cli-report/written.ts";
import { CLI_DEFAULTS, CLI_REQUIREMENTS, type CliRequirement } from "./cli-requirements.ts";

const REQUIREMENTS: CliRequirement[] = [
  ["SEND_001", 1, "1", "sends"],
  ["SEND_002", 1, "1", "waits"],
  ["AUTH_005", 2, "1", "logs in", { later: "no time" }],
];
const passed = (fullName: string): TestOutcome => ({ fullName, status: "passed" });

describe("the report on the CLI specification", () => {
  it("takes for passed what tests have passed, and nothing else", () => {
    const { rows } = reportOf([passed("a [SEND_001]"), passed("b [SEND_001, SEND_002]")], REQUIREMENTS);
    expect(rows.map(({ status, note }) => [status, note])).toEqual([
      ["pass", "2 tests"],
      ["pass", "1 test"],
      ["fail", "not built: no time"],
    ]);
  });

  it.each([
    ["nothing has run", []],
    ["one test fails", [passed("a [SEND_001]"), { fullName: "b [SEND_001, SEND_002]", status: "failed" }]],
    [
      "one test was left out",
      [passed("a [SEND_001]"), { fullName: "b [SEND_001, SEND_002]", status: "skipped" }],
    ],
    ["an id is only near", [passed("a [SEND_001]"), passed("SEND_002"), passed("a [SEND_002 or so]")]],
  ])("says of no tier that it is satisfied when %s", (_, tests) => {
    const report = reportOf(tests, REQUIREMENTS);
    expect([1, 2, 3].map((tier) => tallyOf(report, tier).satisfied)).toEqual([false, false, false]);
  });

  it("wants every default shown before it believes the sum of them", () => {
    const all = Object.keys(CLI_DEFAULTS).map((name) => passed(`default "${name}": … [DEFAULT_001]`));
    const rows: CliRequirement[] = [["DEFAULT_001", 1, "6.5", "six defaults"]];
    expect(reportOf(all, rows).rows[0]?.status).toBe("pass");
    expect(reportOf(all.slice(1), rows).rows[0]).toMatchObject({
      status: "fail",
      note: expect.stringContaining("not shown") as string,
    });
    expect(tallyOf(reportOf(all.slice(1), rows), 1).satisfied).toBe(false);
  });

  it("has every id of every tier in both of its forms", () => {
    const report = reportOf([]);
    const about = { version: "1", date: "2026-01-01", node: "v24", startup: undefined };
    for (const [id] of CLI_REQUIREMENTS) {
      expect(toYaml(report, about)).toContain(`\n  A2ACLI_${id}:\n`);
      expect(toMarkdown(report, about)).toContain(`| \`A2ACLI_${id}\` |`);
    }
    expect(toYaml(report, about)).toContain("tier_1: {total: 39, pass: 0,");
  });
});
