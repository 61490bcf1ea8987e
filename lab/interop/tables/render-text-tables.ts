import type { InteropResult } from "../interop-result.ts";
import { toResultTable } from "./result-table.ts";

/** Renders the results as tables for a terminal. */
export function renderTextTables(results: readonly InteropResult[]): string[] {
  return [...Map.groupBy(results, ({ suite }) => suite)].flatMap(([suite, rows]) => {
    const table = toResultTable(rows);
    const names = table.rows.map(({ name }) => name);
    const width = Math.max(suite.length, ...names.map((name) => name.length));
    const lines = table.rows.map(({ name, cells }) => {
      const texts = cells.map((cell, index) =>
        (cell === undefined ? "–" : cell.ok ? (cell.missing ?? "ok") : "FAILED").padEnd(
          table.columns[index]?.length ?? 0,
        ),
      );
      return `  ${name.padEnd(width)}  ${texts.join("  ")}`;
    });
    return [`  ${suite.padEnd(width)}  ${table.columns.join("  ")}`, ...lines];
  });
}
