import type { TrafficCall } from "./traffic-call.ts";
import type { TrafficModel } from "./traffic-model.ts";

/** Milliseconds between the clocks of two hosts that are usual, and that need no explanation. */
interface ShiftBounds {
  low: number;
  high: number;
}

/**
 * Computes the shifts that make the clocks of the writers agree: no request arrives before it was sent, and no response
 * before its end. The first writer keeps its clock. A writer whose times need no shift keeps its clock, too. Returns
 * the shifts that are not 0, by writer id. Pass them to a new `TrafficModel`.
 */
export function computeClockShifts(model: TrafficModel): Map<string, number> {
  const shifts = new Map<string, number>();
  const pairs = collectBounds(model);
  const aligned = new Set<string>();
  for (const root of model.writers.keys()) {
    if (aligned.has(root)) continue;
    aligned.add(root);
    const waiting = [root];
    for (let from = waiting.shift(); from !== undefined; from = waiting.shift())
      for (const [to, bounds] of pairs.get(from) ?? []) {
        if (aligned.has(to)) continue;
        aligned.add(to);
        waiting.push(to);
        const base = shifts.get(from) ?? 0;
        const shift = chooseShift(bounds.low + base, bounds.high + base);
        if (shift !== 0) shifts.set(to, shift);
      }
  }
  return shifts;
}

/** Returns, by pair of writers, the shifts of the second writer that keep causes before effects. */
function collectBounds(model: TrafficModel): Map<string, Map<string, ShiftBounds>> {
  const pairs = new Map<string, Map<string, ShiftBounds>>();
  const limit = (from: string, to: string, low: number, high: number): void => {
    const ofWriter = pairs.get(from) ?? new Map<string, ShiftBounds>();
    pairs.set(from, ofWriter);
    const bounds = ofWriter.get(to) ?? { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
    ofWriter.set(to, { low: Math.max(bounds.low, low), high: Math.min(bounds.high, high) });
  };
  for (const { calls } of model.exchanges)
    for (const [at, outer] of calls.entries())
      for (const inner of calls.slice(at + 1)) {
        if (outer.writer === inner.writer || outer.vantage === inner.vantage) continue;
        const { low, high } = computeBounds(outer, inner);
        limit(outer.writer, inner.writer, low, high);
        limit(inner.writer, outer.writer, -high, -low);
      }
  return pairs;
}

/** The inner call happens within the outer call, except for the end of a response that the outer side did not read. */
function computeBounds(outer: TrafficCall, inner: TrafficCall): ShiftBounds {
  const low = (outer.request?.timeMs ?? Number.NaN) - (inner.request?.timeMs ?? Number.NaN);
  const high = (outer.response?.timeMs ?? Number.NaN) - (inner.response?.timeMs ?? Number.NaN);
  return {
    low: Number.isNaN(low) ? Number.NEGATIVE_INFINITY : low,
    high: Number.isNaN(high) ? Number.POSITIVE_INFINITY : high,
  };
}

/** Returns 0 if the bounds allow it, and otherwise the middle of the bounds or the only bound. */
function chooseShift(low: number, high: number): number {
  if (low <= 0 && high >= 0) return 0;
  if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2;
  return Number.isFinite(low) ? low : Number.isFinite(high) ? high : 0;
}
