import type { Clock } from "../../../engine/index.ts";

/**
 * System clock whose timers do not keep the process alive. The clock duplicates a clock in `src/engine`,
 * because `src/cards/roles` may import only types from `src/engine`.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref?.();
    return () => clearTimeout(timer);
  },
  scheduleTurn: (callback) => void setImmediate(callback),
};
