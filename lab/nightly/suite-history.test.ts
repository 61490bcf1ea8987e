import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findReportTables } from "./bench-figures.ts";
import {
  appendOutcome,
  findLastLines,
  parseOutcomes,
  renderHistoryPage,
  type SuiteOutcome,
} from "./suite-history.ts";

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

describe("the benchmark in the history", () => {
  // The output of `npm run bench -- --quick --json --only send`.
  const output = readFileSync(new URL("bench-output.txt", import.meta.url), "utf8");
  const tables = findReportTables(output);
  if (!tables) throw new Error("The output contains no tables.");
  const bench: SuiteOutcome = { ...passed, suite: "bench", lastLines: ["}"], tables };

  it("keeps the tables of a run", () => {
    const [kept] = parseOutcomes(appendOutcome("", bench));
    expect(kept?.tables).toEqual(tables);
    expect(kept?.tables?.map(({ workload }) => workload)).toEqual(["send"]);
  });

  it("shows the ratios of each run, and the number of met targets", () => {
    const earlier = { ...bench, startedAt: "2026-11-22T02:17:00.000Z" };
    const lines = renderHistoryPage(new Map([["bench", [earlier, bench]]])).split("\n");
    expect(lines).toContain("| 2026-11-23 02:17 | b01ff02312 | passed | 612 s | 0 of 6 targets met |");
    expect(lines.slice(lines.indexOf("| Ratio | 2026-11-23 | 2026-11-22 |"))).toEqual([
      "| Ratio | 2026-11-23 | 2026-11-22 |",
      "|---|---:|---:|",
      "| SendMessage, 10 chunks, 32 connections: colloquy-memory × floor | 0.26 | 0.26 |",
      "| SendMessage, 10 chunks, 32 connections: colloquy-memory cpu × floor | 6.00 | 6.00 |",
      "| SendMessage, 10 chunks, 32 connections: colloquy-memory × a2a-js | 4.03 | 4.03 |",
      "| SendMessage, 10 chunks, 32 connections: colloquy-sqlite × floor | 0.15 | 0.15 |",
      "| SendMessage, 10 chunks, 32 connections: colloquy-sqlite cpu × floor | 9.33 | 9.33 |",
      "| SendMessage, 10 chunks, 32 connections: colloquy-sqlite × a2a-js | 2.13 | 2.13 |",
      "",
    ]);
  });

  it("leaves a ratio empty in runs before its first measurement", () => {
    const [table] = tables;
    const before = { ...bench, startedAt: "2026-11-22T02:17:00.000Z", tables: [] };
    const page = renderHistoryPage(
      new Map([["bench", [before, { ...bench, tables: table ? [table] : [] }]]]),
    );
    expect(page).toContain("colloquy-memory × floor | 0.26 |  |");
  });

  it("has no tables for the output of another suite", () => {
    expect(findReportTables("12 passed\n")).toBeUndefined();
    expect(findReportTables('{\n  "outcomes": []\n}\n')).toBeUndefined();
    expect(findReportTables("{\n  broken\n}\n")).toBeUndefined();
    expect(findReportTables('{\n  "tables": [{}]\n}\n')).toBeUndefined();
  });
});
