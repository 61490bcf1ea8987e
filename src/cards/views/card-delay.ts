import { type MessageCard, parseCardTime } from "../message-card/index.ts";

/** `+0.82s` since the card before; `0` of the first. */
export function formatCardDelay(before: MessageCard | undefined, card: MessageCard): string {
  if (!before) return "0";
  const ms = parseCardTime(card) - parseCardTime(before);
  return Number.isNaN(ms) ? "" : `${ms < 0 ? "-" : "+"}${formatDuration(Math.abs(ms))}`;
}

function formatDuration(ms: number): string {
  if (ms < 100_000) return `${(ms / 1_000).toFixed(2)}s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 600 ? `${minutes}min` : `${Math.round(minutes / 60)}h`;
}
