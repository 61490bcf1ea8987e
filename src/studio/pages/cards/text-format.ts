import type { TokenSummary } from "../../../cards/index.ts";
const integerFormat = new Intl.NumberFormat("en-US");

/** Formats a number with thousands separators, for example `12,345`. */
export function formatCount(value: number): string {
  return integerFormat.format(value);
}

/** Formats a number with its noun, for example `1 card` or `12 cards`. */
export function pluralize(value: number, one: string, more = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : more}`;
}

/** Formats a duration, for example `820 ms`, `1.40 s`, or `3 min 20 s`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `−${formatDuration(-ms)}`;
  if (ms < 1_000) return `${ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms - minutes * 60_000) / 1_000)} s`;
}

/** Formats the duration of a task. Its log has the times in milliseconds, so that a duration of 0 is not exact. */
export function formatTaskDuration(ms: number): string {
  return ms < 1 ? "<1 ms" : formatDuration(ms);
}

/** Returns the ID of a problem, or `(no problem)` if the ID is empty. */
export function formatSampleId(id: string): string {
  return id === "" ? "(no problem)" : id;
}

/** Formats a share as a percentage, for example `99.2 %`. */
export function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** Formats a number of tokens. The number is a lower bound if some message cards have unknown tokens. */
export function formatTokenTotal({
  total,
  unknownCards,
}: Pick<TokenSummary, "total" | "unknownCards">): string {
  return `${unknownCards > 0 ? "≥ " : ""}${formatCount(total)}`;
}
