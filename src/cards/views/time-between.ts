import { type Card, timeOf } from "../card/index.ts";

/** `+0.82s` since the card before; `0` of the first. */
export function timeBetween(before: Card | undefined, card: Card): string {
  if (!before) return "0";
  const ms = timeOf(card) - timeOf(before);
  return Number.isNaN(ms) ? "" : `${ms < 0 ? "-" : "+"}${durationOf(Math.abs(ms))}`;
}

function durationOf(ms: number): string {
  if (ms < 100_000) return `${(ms / 1_000).toFixed(2)}s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 600 ? `${minutes}min` : `${Math.round(minutes / 60)}h`;
}
