import type { Clock } from "../../engine/index.ts";

/**
 * The system clock, whose timers do not keep the process alive. `src/roles` may import only types of
 * `src/engine`, so this is a copy.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref?.();
    return () => clearTimeout(timer);
  },
};
