import { type MessageCard, toDict } from "../message-card/index.ts";
import type { CardLine } from "./record-line-types.ts";

/** Reliability rank for each direction of a card line. The most reliable direction has rank 0. */
const RELIABILITY_RANK_BY_DIRECTION: Readonly<Record<CardLine["dir"], number>> = {
  out: 0,
  in: 1,
  relayed: 2,
};

/**
 * Returns a key that all record lines of a message card share. Message cards without an ID have the same key
 * if all their members are equal.
 */
export function getCardDeduplicationKey(card: MessageCard): string {
  return card.metadata.card_id ?? JSON.stringify(toDict(card));
}

/** Returns whether a card line is more reliable than another line of the same message card. */
export function isMoreReliableCardLine(line: CardLine, other: CardLine): boolean {
  return RELIABILITY_RANK_BY_DIRECTION[line.dir] < RELIABILITY_RANK_BY_DIRECTION[other.dir];
}

/**
 * Returns a map from each card key to the most reliable line of the message card. In the map, message cards
 * have the order of their first appearance.
 */
export function mapMostReliableLinesByCardKey(lines: readonly CardLine[]): ReadonlyMap<string, CardLine> {
  const best = new Map<string, CardLine>();
  for (const line of lines) {
    const key = getCardDeduplicationKey(line.card);
    const other = best.get(key);
    if (!other || isMoreReliableCardLine(line, other)) best.set(key, line);
  }
  return best;
}

/** Returns the most reliable line of each message card, in the order of `lines`. */
export function selectMostReliableCardLines(lines: readonly CardLine[]): CardLine[] {
  const best = mapMostReliableLinesByCardKey(lines);
  return lines.filter((line) => best.get(getCardDeduplicationKey(line.card)) === line);
}
