import { fitToColumns, measureColumns } from "../../cards/index.ts";
import { escapeControlCharacters } from "../text-writer.ts";

/** Columns in line, two spaces between them; numbers to the right. What models and agents wrote cannot rewrite the screen. */
export function renderTable(rows: readonly (readonly string[])[], align = ""): string {
  const cells = rows.map((row) => row.map((cell) => escapeControlCharacters(cell.replaceAll(/\s+/g, " "))));
  const widths: number[] = [];
  for (const row of cells)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, measureColumns(cell));
  return cells
    .map((row) =>
      row
        .map((cell, at) => {
          const width = widths[at] ?? 0;
          return align[at] === "r"
            ? " ".repeat(width - measureColumns(cell)) + cell
            : fitToColumns(cell, width);
        })
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** `50.0 %`; a dash for what is no number. */
export function formatPercent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? "–" : `${(share * 100).toFixed(1)} %`;
}

/** `50.0 % (15.0–85.0)`: a share and its interval. */
export function formatEstimate(estimate: { value: number; low: number; high: number } | undefined): string {
  if (!estimate) return "–";
  return `${formatPercent(estimate.value)} (${(estimate.low * 100).toFixed(1)}–${(estimate.high * 100).toFixed(1)})`;
}

/** `1,234`; `0.5` of what is small. */
export function formatNumber(value: number | undefined, digits = 0): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `1 card`, `2 cards` */
export function pluralize(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** `820 ms`, `3.1 s`, `12 min`. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return "–";
  if (ms < 1_000) return `${ms.toFixed(0)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${(ms / 60_000).toFixed(0)} min`;
}
