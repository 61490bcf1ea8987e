import { fit, widthOf } from "../../cards/index.ts";
import { printable } from "../text.ts";

/** Columns in line, two spaces between them; numbers to the right. What models and agents wrote cannot rewrite the screen. */
export function table(rows: readonly (readonly string[])[], align = ""): string {
  const cells = rows.map((row) => row.map((cell) => printable(cell.replaceAll(/\s+/g, " "))));
  const widths: number[] = [];
  for (const row of cells)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  return cells
    .map((row) =>
      row
        .map((cell, at) => {
          const width = widths[at] ?? 0;
          return align[at] === "r" ? " ".repeat(width - widthOf(cell)) + cell : fit(cell, width);
        })
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** `50.0 %`; a dash for what is no number. */
export function percent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? "–" : `${(share * 100).toFixed(1)} %`;
}

/** `50.0 % (15.0–85.0)`: a share and its interval. */
export function shareOf(estimate: { value: number; low: number; high: number } | undefined): string {
  if (!estimate) return "–";
  return `${percent(estimate.value)} (${(estimate.low * 100).toFixed(1)}–${(estimate.high * 100).toFixed(1)})`;
}

/** `1,234`; `0.5` of what is small. */
export function number(value: number | undefined, digits = 0): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `1 card`, `2 cards` */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** `820 ms`, `3.1 s`, `12 min`. */
export function duration(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return "–";
  if (ms < 1_000) return `${ms.toFixed(0)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${(ms / 60_000).toFixed(0)} min`;
}
