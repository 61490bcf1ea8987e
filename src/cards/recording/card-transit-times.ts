import { type MessageCard, parseCardTime } from "../message-card/index.ts";
import type { CardLine } from "./record-line-types.ts";

/** Times when a message card was sent and received, in milliseconds on the recording's clock. */
export interface CardTransitTimes {
  readonly card: MessageCard;
  readonly sentMs: number;
  /**
   * Arrival time of the message card, which is never earlier than `sentMs`. If no arrival was recorded,
   * `arrivedMs` equals `sentMs`.
   */
  readonly arrivedMs: number;
}

/**
 * Returns the timings of the message cards in the order the cards were sent. If a recording contains only
 * relayed lines of a message card, the sending time is the card's timestamp. The sending time is never later
 * than the relayed line.
 */
export function computeCardTransitTimes(lines: readonly CardLine[]): CardTransitTimes[] {
  const byCard = Map.groupBy(lines, ({ card }) => card.metadata.card_id ?? card);
  return [...byCard.values()]
    .flatMap((seen) => {
      const arrival = seen.find(({ dir }) => dir === "in");
      const known = seen.find(({ dir }) => dir === "out") ?? arrival ?? seen[0];
      return known ? cardLineToTransitTimes(known, arrival?.mono_ms) : [];
    })
    .toSorted((a, b) => a.sentMs - b.sentMs);
}

/**
 * Creates the timing of a message card from its most reliable line and its recorded arrival time, if known.
 */
export function cardLineToTransitTimes(
  line: CardLine,
  recordedArrivalMs: number | undefined,
): CardTransitTimes {
  const sentMs = line.dir === "relayed" ? computeRelayedCardSentTime(line) : line.mono_ms;
  const arrivalMs = recordedArrivalMs ?? sentMs;
  return {
    card: line.card,
    sentMs,
    arrivedMs: Math.max(sentMs, arrivalMs),
  };
}

/** Converts the timestamp of a message card to the recording's clock. */
function computeRelayedCardSentTime({ card, at, mono_ms }: CardLine): number {
  const elapsedMs = Date.parse(at) - parseCardTime(card);
  return elapsedMs > 0 ? mono_ms - elapsedMs : mono_ms;
}
