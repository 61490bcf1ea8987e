import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { renderTable, type ReportColumn } from "./report.ts";

const HISTORY_FILE = new URL("./history.jsonl", import.meta.url);

/** The figures of a commit. */
export interface HistoryRow {
  /** Short hash of the commit, with `+` if the measured files had uncommitted changes. */
  readonly commit: string;
  /** Date of the commit. */
  readonly date: string;
  /** Date of the measurement. */
  readonly measured: string;
  readonly rounds: number;
  /** Load average before the measurement. */
  readonly load: number;
  /** Median of the CPU time per answer, relative to the floor of the same round. */
  readonly cpuToFloor: Readonly<Record<string, number>>;
  /** Median of the CPU time per answer in microseconds. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  readonly modules: Readonly<Record<string, number>>;
  readonly lines: Readonly<Record<string, number>>;
}

/** Adds a row to the history, which has one row for each commit in the order of their dates. */
export function recordHistory(row: HistoryRow): void {
  const rows = [...readHistory().filter(({ commit }) => commit !== row.commit), row];
  const sorted = rows.toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  writeFileSync(HISTORY_FILE, sorted.map((each) => `${JSON.stringify(each)}\n`).join(""));
}

function readHistory(): HistoryRow[] {
  if (!existsSync(HISTORY_FILE)) return [];
  const lines = readFileSync(HISTORY_FILE, "utf8").trim().split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as HistoryRow);
}

/** Renders the history as a table. */
export function renderHistory(): string {
  const rows = readHistory();
  const workloads = [...new Set(rows.flatMap(({ cpuToFloor }) => Object.keys(cpuToFloor)))];
  const columns: ReportColumn[] = [
    ...workloads.map((name) => ({ key: name, title: name, format: "ratio" }) as const),
    { key: "modules", title: "modules of colloquy", format: "count" },
    { key: "version", title: "of --version", format: "count" },
    { key: "lines", title: "lines of src", format: "count" },
  ];
  return renderTable({
    workload: "history",
    title: "CPU time per answer × floor, loaded modules, and lines of code by commit",
    columns,
    rows: rows.map(({ commit, date, cpuToFloor, modules, lines }) => ({
      subject: `${date} ${commit}`,
      cells: {
        ...cpuToFloor,
        modules: modules["colloquy"],
        version: modules["CLI --version"],
        lines: lines["src"],
      },
      targets: [],
      checked: 0,
      faults: [],
    })),
  });
}
