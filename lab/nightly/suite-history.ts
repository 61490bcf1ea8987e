/** The history of the long suites: one line of JSON for each run, in one file for each suite. */

import type { ReportTable } from "../bench/report.ts";
import { countTargets, renderRatioTable } from "./bench-figures.ts";

/** The outcome of one run of a suite. */
export interface SuiteOutcome {
  readonly suite: string;
  /** The commit that was tested, or an empty string outside of CI. */
  readonly commit: string;
  /** Start of the run in ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  /** The exit code, or `null` if a signal ended the suite. */
  readonly exitCode: number | null;
  /** The last lines of the output, which contain the totals of a suite. */
  readonly lastLines: readonly string[];
  /** The tables of the benchmark. Other suites have none. */
  readonly tables?: readonly ReportTable[];
}

const LAST_LINE_COUNT = 15;
const SHOWN_RUN_COUNT = 30;
// oxlint-disable-next-line no-control-regex -- colors of terminals
const TERMINAL_COLORS = /\u001b\[[\d;]*m/g;

/** Returns the last lines of a suite's output, without colors. */
export function findLastLines(output: string): string[] {
  const lines = output.replaceAll(TERMINAL_COLORS, "").trimEnd().split("\n");
  return lines.slice(-LAST_LINE_COUNT).map((line) => line.trimEnd());
}

/** Appends the outcome to the content of its suite's file. A second append of the same run changes nothing. */
export function appendOutcome(jsonLines: string, outcome: SuiteOutcome): string {
  const isKnown = parseOutcomes(jsonLines).some(
    ({ startedAt, commit }) => startedAt === outcome.startedAt && commit === outcome.commit,
  );
  return isKnown ? jsonLines : `${jsonLines}${JSON.stringify(outcome)}\n`;
}

export function parseOutcomes(jsonLines: string): SuiteOutcome[] {
  return jsonLines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SuiteOutcome);
}

/** Renders the latest runs of each suite as a Markdown page. The outcomes are in the order of the runs. */
export function renderHistoryPage(outcomesBySuite: ReadonlyMap<string, readonly SuiteOutcome[]>): string {
  const sections = [...outcomesBySuite]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([suite, outcomes]) => {
      const latest = outcomes.slice(-SHOWN_RUN_COUNT).toReversed();
      const passed = outcomes.filter(({ exitCode }) => exitCode === 0).length;
      const rows = latest.map(
        ({ startedAt, commit, seconds, exitCode, lastLines, tables }) =>
          `| ${startedAt.slice(0, 16).replace("T", " ")} | ${commit.slice(0, 10)} | ${exitCode === 0 ? "passed" : "failed"} | ${Math.round(seconds)} s | ${escapeCell(tables ? countTargets(tables) : (lastLines.at(-1) ?? ""))} |`,
      );
      const ratioTable = renderRatioTable(outcomes);
      return [
        `## ${suite}`,
        "",
        `${passed} of ${outcomes.length} runs passed.`,
        "",
        "| Start | Commit | Outcome | Duration | Last line |",
        "|---|---|---|---|---|",
        ...rows,
        ...(ratioTable === "" ? [] : ["", ratioTable]),
      ].join("\n");
    });
  return `# Nightly suites\n\n${sections.join("\n\n")}\n`;
}

function escapeCell(text: string): string {
  return text.replaceAll("|", String.raw`\|`);
}
