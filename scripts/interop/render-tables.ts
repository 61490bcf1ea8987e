import { readFileSync, writeFileSync } from "node:fs";
import type { ExpectedInteropFailure } from "./expected-outcomes.ts";
import { getResultName, type InteropResult, type InteropSuite } from "./interop-result.ts";

const PAGE = new URL("../../docs/interop.md", import.meta.url);

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly (InteropResult | undefined)[] }[];
}

/** A row for each peer, direction, and variant, and a column for each scenario. */
function toTable(results: readonly InteropResult[]): Table {
  const columns = [...new Set(results.map(({ scenario }) => scenario))];
  const rows = Map.groupBy(results, getRowName);
  return {
    columns,
    rows: [...rows].map(([name, row]) => ({
      name,
      cells: columns.map((column) => row.find(({ scenario }) => scenario === column)),
    })),
  };
}

function getRowName({ sdk, direction, variant }: InteropResult): string {
  const [caller, callee] = {
    "their client": [sdk, "Colloquy"],
    "our client": ["Colloquy", sdk],
    "own server": [sdk, sdk],
  }[direction] as [string, string];
  return `${caller} → ${callee}${variant === undefined ? "" : `, ${variant}`}`;
}

function groupBySuite(results: readonly InteropResult[]): Map<InteropSuite, InteropResult[]> {
  return Map.groupBy(results, ({ suite }) => suite);
}

/** Renders the results as tables for a terminal. */
export function renderTextTables(results: readonly InteropResult[]): string[] {
  return [...groupBySuite(results)].flatMap(([suite, rows]) => {
    const table = toTable(rows);
    const names = table.rows.map(({ name }) => name);
    const width = Math.max(suite.length, ...names.map((name) => name.length));
    const lines = table.rows.map(({ name, cells }) => {
      const texts = cells.map((cell, index) =>
        (cell === undefined ? "–" : cell.ok ? "ok" : "FAILED").padEnd(table.columns[index]?.length ?? 0),
      );
      return `  ${name.padEnd(width)}  ${texts.join("  ")}`;
    });
    return [`  ${suite.padEnd(width)}  ${table.columns.join("  ")}`, ...lines];
  });
}

/** Replaces the tables between the markers of docs/interop.md. */
export function writeInteropPage(
  results: readonly InteropResult[],
  skipped: readonly { readonly peer: string; readonly why: string }[],
  expected: readonly ExpectedInteropFailure[],
): void {
  const page = readFileSync(PAGE, "utf8");
  const suites = groupBySuite(results);
  const replaced = page.replaceAll(
    /(<!-- table: (.+?) -->\n)[\s\S]*?(<!-- end -->)/g,
    (whole, start: string, suite: InteropSuite, end: string) => {
      const rows = suites.get(suite);
      return rows ? `${start}${renderMarkdownTable(rows, expected)}${end}` : whole;
    },
  );
  const skippedList = skipped.map(({ peer, why }) => `- ${peer}: ${why}`).join("\n");
  const list = skippedList === "" ? "All peers were available." : skippedList;
  writeFileSync(PAGE, replaced.replace(/(<!-- skipped -->\n)[\s\S]*?(<!-- end -->)/, `$1\n${list}\n\n$2`));
}

function renderMarkdownTable(
  results: readonly InteropResult[],
  expected: readonly ExpectedInteropFailure[],
): string {
  const { columns, rows } = toTable(results);
  const notes: string[] = [];
  const toCell = (cell: InteropResult | undefined): string => {
    if (!cell) return "–";
    if (cell.ok) return "ok";
    if (cell.direction === "own server") return "fails";
    const run = `${cell.peer}, ${cell.direction}`;
    const reason = expected.find(
      ({ test, runs }) => test === getResultName(cell) && runs.includes(run),
    )?.reason;
    if (reason === undefined) return "**fails**";
    if (!notes.includes(reason)) notes.push(reason);
    return `peer (${notes.indexOf(reason) + 1})`;
  };
  const lines = [
    ["from → to", ...columns],
    ["---", ...columns.map(() => "---")],
    ...rows.map(({ name, cells }) => [name, ...cells.map(toCell)]),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  const numbered = notes.map((note, index) => wrapListItem(`${index + 1}. `, note));
  return ["", ...lines, ...(numbered.length > 0 ? ["", ...numbered] : []), "", ""].join("\n");
}

const MAX_COLUMNS = 120;

/** Breaks the text of a list item into lines, which are indented like the text after the marker. */
function wrapListItem(marker: string, text: string): string {
  const lines = [marker.trimEnd()];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= MAX_COLUMNS) lines[lines.length - 1] = line;
    else lines.push(`${" ".repeat(marker.length)}${word}`);
  }
  return lines.join("\n");
}
