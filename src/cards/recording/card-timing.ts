import { type MessageCard, parseCardTime } from "../message-card/index.ts";
import type { CardLine } from "./record-lines.ts";

/** Times at which a card was sent and received, in milliseconds of the recording's clock. */
export interface CardTiming {
  readonly card: MessageCard;
  readonly sentMs: number;
  /** Time of arrival, never before `sentMs`. Equal to `sentMs` if no arrival was recorded. */
  readonly arrivedMs: number;
  /** Whether the recorded arrival is earlier than the sending. `arrivedMs` is then adjusted. */
  readonly isInverted: boolean;
  /** Whether the sender itself recorded the card. All other cards of that sender are then recorded, too. */
  readonly isSenderRecorded: boolean;
}

/**
 * Returns the timing of each card in the order of sending.
 * A card that is known only from a relay was sent at the time of its timestamp, but not after the relay.
 */
export function computeCardTimings(lines: readonly CardLine[]): CardTiming[] {
  const byCard = Map.groupBy(lines, ({ card }) => card.metadata.card_id ?? card);
  return [...byCard.values()]
    .flatMap((seen) => {
      const arrival = seen.find(({ dir }) => dir === "in");
      const known = seen.find(({ dir }) => dir === "out") ?? arrival ?? seen[0];
      return known ? createCardTiming(known, arrival?.mono_ms) : [];
    })
    .toSorted((a, b) => a.sentMs - b.sentMs);
}

/** Creates the timing of a card from its most reliable line and from its time of arrival, if that was recorded. */
export function createCardTiming(line: CardLine, recordedArrivalMs: number | undefined): CardTiming {
  const sentMs = line.dir === "relayed" ? computeSentTime(line) : line.mono_ms;
  const arrivalMs = recordedArrivalMs ?? sentMs;
  return {
    card: line.card,
    sentMs,
    arrivedMs: Math.max(sentMs, arrivalMs),
    isInverted: arrivalMs < sentMs,
    isSenderRecorded: line.dir === "out",
  };
}

/** Converts the timestamp of a card to the recording's clock. */
function computeSentTime({ card, at, mono_ms }: CardLine): number {
  const elapsedMs = Date.parse(at) - parseCardTime(card);
  return elapsedMs > 0 ? mono_ms - elapsedMs : mono_ms;
}
