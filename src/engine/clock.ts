/** Source of time for the engine. Tests replace the system clock with a fake clock. */
export interface Clock {
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  /**
   * Returns the time in milliseconds, with fractions, since an arbitrary starting point. The monotonic time
   * never decreases.
   */
  monotonic(): number;
  /** Calls `callback` once after `ms` milliseconds and returns a function that cancels the scheduled call. */
  schedule(ms: number, callback: () => void): () => void;
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
};

let lastFormattedTimestamp = { ms: Number.NaN, text: "" };

/**
 * Formats a time as ISO 8601 UTC with milliseconds. `formatTimestamp` caches the last result, because many
 * events share a millisecond and formatting is comparatively expensive.
 */
export function formatTimestamp(ms: number): string {
  if (ms !== lastFormattedTimestamp.ms) lastFormattedTimestamp = { ms, text: new Date(ms).toISOString() };
  return lastFormattedTimestamp.text;
}
