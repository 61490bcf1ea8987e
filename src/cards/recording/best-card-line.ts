import { type MessageCard, toDict } from "../message-card/index.ts";
import type { CardLine } from "./record-lines.ts";

/** Reliability of a line by its direction: the line of the sender first, a relayed line last. */
const DIRECTION_RANK: Readonly<Record<CardLine["dir"], number>> = { out: 0, in: 1, relayed: 2 };

/** Returns a key that all lines of a card share. Cards without an ID are equal if all their members are equal. */
export function getCardKey(card: MessageCard): string {
  return card.metadata.card_id ?? JSON.stringify(toDict(card));
}

/** Returns whether a line is more reliable than another line of the same card. */
export function isBetterCardLine(line: CardLine, other: CardLine): boolean {
  return DIRECTION_RANK[line.dir] < DIRECTION_RANK[other.dir];
}

/** Returns the most reliable line of each card by card key. The cards are in the order of their first lines. */
export function mapBestCardLines(lines: readonly CardLine[]): ReadonlyMap<string, CardLine> {
  const best = new Map<string, CardLine>();
  for (const line of lines) {
    const key = getCardKey(line.card);
    const other = best.get(key);
    if (!other || isBetterCardLine(line, other)) best.set(key, line);
  }
  return best;
}

/** Returns the most reliable line of each card, in the order of the lines. */
export function selectBestCardLines(lines: readonly CardLine[]): CardLine[] {
  const best = mapBestCardLines(lines);
  return lines.filter((line) => best.get(getCardKey(line.card)) === line);
}
