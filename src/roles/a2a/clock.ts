import type { Clock } from "../../engine/index.ts";

/** The system clock. Its timers do not keep the process alive. This folder may import only types of `src/engine`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref?.();
    return () => clearTimeout(timer);
  },
};
