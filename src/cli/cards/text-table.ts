import { fitToColumns, measureColumns } from "../../cards/index.ts";
import { escapeControlCharacters } from "../terminal-streams.ts";

/**
 * Renders a text table with two spaces between columns and right-aligned numbers. The table escapes control
 * characters in model output.
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

/** Formats a fraction as a percentage such as `50.0 %`, or as a dash if the value is missing. */
export function formatPercent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? "–" : `${(share * 100).toFixed(1)} %`;
}

/** Formats a fraction with its confidence interval, for example `50.0 % (15.0–85.0)`. */
export function formatPercentWithInterval(
  estimate: { value: number; low: number; high: number } | undefined,
): string {
  if (!estimate) return "–";
  return `${formatPercent(estimate.value)} (${(estimate.low * 100).toFixed(1)}–${(estimate.high * 100).toFixed(1)})`;
}

/** Formats a number with thousands separators and `digits` decimal places, for example `1,234`. */
export function formatNumber(value: number | undefined, digits = 0): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Formats a count with a singular or plural noun, for example `1 card` or `2 cards`. */
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

/** Formats the number of problems by outcome, the most frequent outcome first. */
export function formatOutcomes(outcomes: Readonly<Record<string, number>>): string {
  return Object.entries(outcomes)
    .toSorted(([, a], [, b]) => b - a)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ");
}

/** States what to do about a method without any answer. */
export function renderNoAnswersHint(name: string, outcomes: Readonly<Record<string, number>>): string {
  const [most] = Object.entries(outcomes).toSorted(([, a], [, b]) => b - a);
  const action = NO_ANSWERS_ACTIONS[most?.[0] ?? ""] ?? "read the replies with colloquy cards show";
  return `${name} answered no problem, so its tokens measure failures: ${action}`;
}

const NO_ANSWERS_ACTIONS: Readonly<Record<string, string>> = {
  invalid_action:
    "the model does not follow the action format; use a server that enforces response_format, or another model",
  placeholder: "the model repeats the placeholders of the prompt; use a larger model",
  truncated: "raise --max-tokens",
  timeout: "raise --deadline or lower --concurrency",
};
