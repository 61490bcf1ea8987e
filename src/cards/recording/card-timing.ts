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
      const out = seen.find(({ dir }) => dir === "out");
      const arrival = seen.find(({ dir }) => dir === "in");
      const known = out ?? arrival ?? seen[0];
      if (!known) return [];
      const sent = known.dir === "relayed" ? computeSentTime(known) : known.mono_ms;
      const arrived = arrival?.mono_ms ?? sent;
      const isInverted = arrived < sent;
      return {
        card: known.card,
        sentMs: sent,
        arrivedMs: Math.max(sent, arrived),
        isInverted,
        isSenderRecorded: out !== undefined,
      };
    })
    .toSorted((a, b) => a.sentMs - b.sentMs);
}

/** The time on the card, by the recording's clock. */
function computeSentTime({ card, at, mono_ms }: CardLine): number {
  const before = Date.parse(at) - parseCardTime(card);
  return before > 0 ? mono_ms - before : mono_ms;
}
