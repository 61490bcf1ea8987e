import { Deferred } from "../base/data-structures/index.ts";

/**
 * Source of time for the engine and the server. Tests replace the system clock with a fake clock. Other files
 * of `engine/` and `server/` must not read the time of the process directly (`test/house/clock-use.test.ts`).
 */
export interface Clock {
  /**
   * Returns the wall-clock time in milliseconds since 1970. An operator or NTP can set the wall clock, so the
   * time can jump in both directions. Use it only for timestamps that leave the process.
   */
  now(): number;
  /**
   * Returns the fractional number of milliseconds since an arbitrary starting point. The monotonic time never
   * decreases, even if the wall clock is set back. Use it to measure every interval, such as a heartbeat, a
   * delay, or a timeout.
   */
  monotonic(): number;
  /** Calls `callback` once after `ms` milliseconds and returns a function that cancels the scheduled call. */
  schedule(ms: number, callback: () => void): () => void;
  /** Calls `callback` once in a later turn of the event loop, after the pending input and output. */
  scheduleTurn(callback: () => void): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, callback) {
    const timer = setTimeout(callback, ms);
    // A pending timer must not keep the process alive.
    timer.unref?.();
    return () => clearTimeout(timer);
  },
  scheduleTurn(callback) {
    // Browsers and workers have no `setImmediate`.
    if (typeof setImmediate === "function") setImmediate(callback);
    else setTimeout(callback, 0);
  },
};

/** Resolves once `end` has settled, or after `ms` milliseconds. Rejects like `end`. */
export async function waitAtMost(end: Promise<unknown> | undefined, ms: number, clock: Clock): Promise<void> {
  const timeout = new Deferred();
  const cancelTimer = clock.schedule(ms, () => timeout.resolve());
  try {
    await Promise.race([end, timeout.promise]);
  } finally {
    cancelTimer();
  }
}

let lastFormattedTimestamp = { ms: Number.NaN, text: "" };

/**
 * Formats a time as ISO 8601 UTC with milliseconds. `formatTimestamp` caches the last result, because many
 * events share a millisecond and formatting is comparatively expensive.
 */
export function formatTimestamp(ms: number): string {
  if (ms !== lastFormattedTimestamp.ms) lastFormattedTimestamp = { ms, text: new Date(ms).toISOString() };
  return lastFormattedTimestamp.text;
}
