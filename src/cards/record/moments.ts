import { type Card, timeOf } from "../card/index.ts";
import type { CardLine } from "./lines.ts";

/** When a card was under way, in milliseconds of the recording's clock. */
export interface Moments {
  readonly card: Card;
  readonly sent: number;
  /** Not before `sent`; the same where nobody recorded its arrival. */
  readonly arrived: number;
  /** It arrived before it was sent, by the clocks as they are: `arrived` is not what was recorded. */
  readonly inverted: boolean;
  /** Its sender tells of it itself: then whatever else that one has sent is here, too. */
  readonly told: boolean;
}

/**
 * When each card was sent and arrived, in the order of sending. A card that is only known from a relay was sent at the
 * time that stands on it, as far as that is before the relay.
 */
export function momentsOf(lines: readonly CardLine[]): Moments[] {
  const byCard = Map.groupBy(lines, ({ card }) => card.metadata.card_id ?? card);
  return [...byCard.values()]
    .flatMap((seen) => {
      const out = seen.find(({ dir }) => dir === "out");
      const arrival = seen.find(({ dir }) => dir === "in");
      const known = out ?? arrival ?? seen[0];
      if (!known) return [];
      const sent = known.dir === "relayed" ? stamped(known) : known.mono_ms;
      const arrived = arrival?.mono_ms ?? sent;
      const inverted = arrived < sent;
      return { card: known.card, sent, arrived: Math.max(sent, arrived), inverted, told: out !== undefined };
    })
    .toSorted((a, b) => a.sent - b.sent);
}

/** The time on the card, by the recording's clock. */
function stamped({ card, at, mono_ms }: CardLine): number {
  const before = Date.parse(at) - timeOf(card);
  return before > 0 ? mono_ms - before : mono_ms;
}
