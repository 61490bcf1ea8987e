import { describe, expect, it } from "vitest";
import {
  appendOutcome,
  findLastLines,
  parseOutcomes,
  renderHistoryPage,
  type SuiteOutcome,
} from "../scripts/nightly/suite-history.ts";

const passed: SuiteOutcome = {
  suite: "chaos",
  commit: "b01ff02312345",
  startedAt: "2026-11-23T02:17:00.000Z",
  seconds: 612.4,
  exitCode: 0,
  lastLines: ["| 12 faults | 0 broken promises |"],
};
const failed: SuiteOutcome = { ...passed, startedAt: "2026-11-24T02:17:00.000Z", exitCode: null };

describe("the history of the nightly suites", () => {
  it("keeps each run once, in order", () => {
    const history = [passed, failed, passed].reduce(appendOutcome, "");
    expect(parseOutcomes(history)).toEqual([passed, failed]);
  });

  it("shows the latest run first, with its outcome", () => {
    const page = renderHistoryPage(new Map([["chaos", [passed, failed]]]));
    expect(page.split("\n").slice(2)).toEqual([
      "## chaos",
      "",
      "1 of 2 runs passed.",
      "",
      "| Start | Commit | Outcome | Duration | Last line |",
      "|---|---|---|---|---|",
      String.raw`| 2026-11-24 02:17 | b01ff02312 | failed | 612 s | \| 12 faults \| 0 broken promises \| |`,
      String.raw`| 2026-11-23 02:17 | b01ff02312 | passed | 612 s | \| 12 faults \| 0 broken promises \| |`,
      "",
    ]);
  });

  it("contains the last lines of the output without colors", () => {
    const output = `${"line\n".repeat(30)}\u001b[32m12 passed\u001b[39m\n\n`;
    expect(findLastLines(output).slice(-2)).toEqual(["line", "12 passed"]);
    expect(findLastLines(output)).toHaveLength(15);
  });
});
