/** The figures of the benchmark in the history: the tables that `npm run bench -- --json` prints. */
import type { ReportTable } from "../bench/report.ts";

/** The parts of a run that are read here. */
export interface RunWithTables {
  readonly startedAt: string;
  readonly tables?: readonly ReportTable[];
}

const SHOWN_RUN_COUNT = 10;

/** Returns the tables of the benchmark's JSON document in the output of npm, or `undefined` if there is none. */
export function findReportTables(output: string): ReportTable[] | undefined {
  const [document] = /^\{$[^]*?^\}$/m.exec(output.replaceAll("\r\n", "\n")) ?? [];
  if (document === undefined) return undefined;
  try {
    const { tables } = JSON.parse(document) as { tables?: readonly Partial<ReportTable>[] };
    const isReport = Array.isArray(tables) && tables.every(({ columns, rows }) => columns && rows);
    return isReport ? (tables as ReportTable[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns how many performance targets the run met. */
export function countTargets(tables: readonly ReportTable[]): string {
  const targets = tables.flatMap(({ rows }) => rows).flatMap((row) => row.targets);
  return `${targets.filter(({ met }) => met).length} of ${targets.length} targets met`;
}

/**
 * Renders the ratios of the systems with a target as a Markdown table, with one column for each of the latest runs. A
 * ratio compares with a system of the same run, so that the speed of the machine matters less than for a rate. Returns an
 * empty string without tables.
 */
export function renderRatioTable(runs: readonly RunWithTables[]): string {
  const latest = runs
    .filter(({ tables }) => tables !== undefined)
    .slice(-SHOWN_RUN_COUNT)
    .toReversed();
  const ratios = latest.map(({ tables = [] }) => collectRatios(tables));
  const names = [...new Set(ratios.flatMap((each) => [...each.keys()]))];
  if (names.length === 0) return "";
  const dates = latest.map(({ startedAt }) => startedAt.slice(0, 10));
  return [
    `| Ratio | ${dates.join(" | ")} |`,
    `|---|${"---:|".repeat(dates.length)}`,
    ...names.map((name) => `| ${name} | ${ratios.map((each) => formatRatio(each.get(name))).join(" | ")} |`),
  ].join("\n");
}

/** Returns the ratios by name. The names contain no limits of targets, so that they stay the same when a limit changes. */
function collectRatios(tables: readonly ReportTable[]): Map<string, number> {
  const ratios = new Map<string, number>();
  for (const { title, columns, rows } of tables)
    for (const { subject, cells, targets } of rows)
      for (const { key, title: column, format } of columns) {
        const value = cells[key];
        // JSON has no NaN: the benchmark prints it as null.
        if (targets.length > 0 && format === "ratio" && typeof value === "number")
          ratios.set(`${title}: ${subject} ${column}`, value);
      }
  return ratios;
}

function formatRatio(ratio: number | undefined): string {
  return ratio === undefined ? "" : ratio.toFixed(2);
}
