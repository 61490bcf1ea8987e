import { fitToColumns, measureColumns } from "../../cards/index.ts";
import { escapeControlCharacters } from "../text-writer.ts";

/**
 * Renders aligned columns with two spaces between them, and right-aligned numbers. Control characters in
 * model output are escaped.
 */
export function renderTable(rows: readonly (readonly string[])[], align = ""): string {
  const cells = rows.map((row) => row.map((cell) => escapeControlCharacters(cell.replaceAll(/\s+/g, " "))));
  const widths: number[] = [];
  for (const row of cells)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, measureColumns(cell));
  return cells
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return align[column] === "r"
            ? " ".repeat(width - measureColumns(cell)) + cell
            : fitToColumns(cell, width);
        })
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** Formats a share as `50.0 %`. Returns a dash for a missing number. */
export function formatPercent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? "–" : `${(share * 100).toFixed(1)} %`;
}

/** Formats a share with its confidence interval: `50.0 % (15.0–85.0)`. */
export function formatEstimate(estimate: { value: number; low: number; high: number } | undefined): string {
  if (!estimate) return "–";
  return `${formatPercent(estimate.value)} (${(estimate.low * 100).toFixed(1)}–${(estimate.high * 100).toFixed(1)})`;
}

/** Formats a number as `1,234`, or with `digits` decimal places. */
export function formatNumber(value: number | undefined, digits = 0): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Formats a count with its noun: `1 card`, `2 cards`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats a duration as `820 ms`, `3.1 s`, or `12 min`. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return "–";
  if (ms < 1_000) return `${ms.toFixed(0)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${(ms / 60_000).toFixed(0)} min`;
}
