import type { CardLine } from "./record-line-types.ts";

/** Permitted range of a clock shift in milliseconds. */
interface ClockShiftBounds {
  readonly low: number;
  readonly high: number;
}

/**
 * Computes the permitted shifts for the clock of `second`. A shift is permitted if, after the shift, no
 * message card arrives before it was sent. A bound is infinite if no message card was sent in the
 * corresponding direction. `low` can exceed `high` if the two clocks run at different speeds.
 */
export function computeClockShiftBounds(
  first: readonly CardLine[],
  second: readonly CardLine[],
): ClockShiftBounds {
  const sentFirst = mapTimesByCardId(first, "out");
  const sentSecond = mapTimesByCardId(second, "out");
  let low = Number.NEGATIVE_INFINITY;
  let high = Number.POSITIVE_INFINITY;
  for (const [id, arrived] of mapTimesByCardId(second, "in")) {
    const sent = sentFirst.get(id);
    if (sent !== undefined) low = Math.max(low, sent - arrived);
  }
  for (const [id, arrived] of mapTimesByCardId(first, "in")) {
    const sent = sentSecond.get(id);
    if (sent !== undefined) high = Math.min(high, arrived - sent);
  }
  return { low, high };
}

function mapTimesByCardId(lines: readonly CardLine[], dir: CardLine["dir"]): Map<string, number> {
  return new Map(
    lines.flatMap((line) => {
      const id = line.card.metadata.card_id;
      return id !== undefined && line.dir === dir ? [[id, line.mono_ms] as const] : [];
    }),
  );
}
