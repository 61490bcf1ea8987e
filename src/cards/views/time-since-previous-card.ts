import { type MessageCard, parseCardTime } from "../message-card/index.ts";

/** Formats the time since the previous message card as `+0.82s`, or as `0` for the first message card. */
export function formatTimeSincePreviousCard(previous: MessageCard | undefined, card: MessageCard): string {
  if (!previous) return "0";
  const ms = parseCardTime(card) - parseCardTime(previous);
  return Number.isNaN(ms) ? "" : `${ms < 0 ? "-" : "+"}${formatDuration(Math.abs(ms))}`;
}

function formatDuration(ms: number): string {
  if (ms < 100_000) return `${(ms / 1_000).toFixed(2)}s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 600 ? `${minutes}min` : `${Math.round(minutes / 60)}h`;
}
