import { type MessageCard, parseCardTime } from "../message-card/index.ts";
import type { CardLine } from "./record-lines.ts";

/** When a card was under way, in milliseconds of the recording's clock. */
export interface CardTiming {
  readonly card: MessageCard;
  readonly sentMs: number;
  /** Not before `sentMs`; the same where nobody recorded its arrival. */
  readonly arrivedMs: number;
  /** It arrived before it was sent, by the clocks as they are: `arrivedMs` is not what was recorded. */
  readonly isInverted: boolean;
  /** Its sender tells of it itself: then whatever else that one has sent is here, too. */
  readonly isSenderRecorded: boolean;
}

/**
 * When each card was sent and arrived, in the order of sending. A card that is only known from a relay was sent at the
 * time that stands on it, as far as that is before the relay.
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

/** The time on the card, by the recording's clock. */
function computeSentTime({ card, at, mono_ms }: CardLine): number {
  const before = Date.parse(at) - parseCardTime(card);
  return before > 0 ? mono_ms - before : mono_ms;
}
