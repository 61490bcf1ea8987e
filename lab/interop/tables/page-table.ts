import type { ExpectedInteropFailure } from "../expected-outcomes.ts";
import { getResultName, type InteropResult } from "../interop-result.ts";
import { toResultTable } from "./result-table.ts";

/** A table of docs/interop.md. */
export interface PageTable {
  readonly columns: readonly string[];
  readonly rows: readonly PageRow[];
}

/** The results of a peer in one direction and variant. */
export interface PageRow {
  readonly name: string;
  /** Cells by column. A missing cell is a scenario without a meaning in this direction. */
  readonly cells: ReadonlyMap<string, PageCell>;
  /** Date of the run, such as `2026-11-23`. Missing in rows without a date. */
  readonly date?: string;
}

interface PageCell {
  readonly text: string;
  /** Reason for a failure that the peer causes. The table shows the number of the reason. */
  readonly reason?: string;
}

const NAME_COLUMN = "from → to";
const DATE_COLUMN = "run";
const EMPTY_CELL = "–";
const MAX_LINE_LENGTH = 120;

/** Returns the table of one suite of a run. */
export function toPageTable(
  results: readonly InteropResult[],
  expected: readonly ExpectedInteropFailure[],
  date: string,
): PageTable {
  const { columns, rows } = toResultTable(results);
  return {
    columns,
    rows: rows.map(({ name, cells }) => ({
      name,
      date,
      cells: new Map(cells.flatMap((cell) => (cell ? [[cell.scenario, toPageCell(cell, expected)]] : []))),
    })),
  };
}

function toPageCell(result: InteropResult, expected: readonly ExpectedInteropFailure[]): PageCell {
  if (result.ok) return { text: result.missing ?? "ok" };
  if (result.direction === "own server") return { text: "fails" };
  const run = `${result.peer}, ${result.direction}`;
  const entry = expected.find(({ test, runs }) => test === getResultName(result) && runs.includes(run));
  return entry ? { text: "peer", reason: entry.reason } : { text: "**fails**" };
}

/** Reads a table that `renderPageTable` has written. */
export function parsePageTable(markdown: string): PageTable {
  const reasons = parseReasons(markdown);
  const [header = [], , ...rows] = markdown
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2, -2).split(" | "));
  return {
    columns: header.filter(isScenario),
    rows: rows.map(([name = "", ...texts]) => {
      const textByColumn = new Map(texts.map((text, index) => [header[index + 1] ?? "", text]));
      const date = textByColumn.get(DATE_COLUMN) ?? EMPTY_CELL;
      return {
        name,
        cells: new Map(
          [...textByColumn]
            .filter(([column, text]) => isScenario(column) && text !== EMPTY_CELL)
            .map(([column, text]) => [column, parseCell(text, reasons)]),
        ),
        ...(date !== EMPTY_CELL && { date }),
      };
    }),
  };
}

function isScenario(column: string): boolean {
  return column !== NAME_COLUMN && column !== DATE_COLUMN;
}

function parseCell(text: string, reasons: ReadonlyMap<string, string>): PageCell {
  const reason = reasons.get(/^peer \((\d+)\)$/.exec(text)?.[1] ?? "");
  return reason === undefined ? { text } : { text: "peer", reason };
}

/** Returns the reasons of the list below a table by their numbers. */
function parseReasons(markdown: string): Map<string, string> {
  const items = markdown.matchAll(/^(\d+)\. (.*(?:\n {2,}.*)*)/gm);
  return new Map([...items].map(([, number = "", text = ""]) => [number, text.replaceAll(/\n +/g, " ")]));
}

/** Renders a table, and the numbered list of its reasons. */
export function renderPageTable({ columns, rows }: PageTable): string {
  const reasons = [
    ...new Set(rows.flatMap(({ cells }) => columns.flatMap((column) => cells.get(column)?.reason ?? []))),
  ];
  const renderCell = (cell: PageCell | undefined): string => {
    if (!cell) return EMPTY_CELL;
    return cell.reason === undefined ? cell.text : `${cell.text} (${reasons.indexOf(cell.reason) + 1})`;
  };
  const lines = [
    [NAME_COLUMN, ...columns, DATE_COLUMN],
    ["---", ...columns.map(() => "---"), "---"],
    ...rows.map(({ name, cells, date = EMPTY_CELL }) => [
      name,
      ...columns.map((column) => renderCell(cells.get(column))),
      date,
    ]),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  const list = reasons.map((reason, index) => wrapListItem(`${index + 1}. `, reason));
  return ["", ...lines, ...(list.length > 0 ? ["", ...list] : []), "", ""].join("\n");
}

/** Breaks the text of a list item into lines, which are indented like the text after the marker. */
function wrapListItem(marker: string, text: string): string {
  const lines = [marker.trimEnd()];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= MAX_LINE_LENGTH) lines[lines.length - 1] = line;
    else lines.push(`${" ".repeat(marker.length)}${word}`);
  }
  return lines.join("\n");
}
