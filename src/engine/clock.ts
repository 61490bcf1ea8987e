/** Source of time for the engine. Tests use a fake clock. */
export interface Clock {
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  /**
   * Returns the time in milliseconds since an arbitrary point, with fractions. The returned time never
   * decreases.
   */
  monotonic(): number;
  /** Calls `callback` once after `ms` milliseconds. The returned function cancels the call. */
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

let lastFormatted = { ms: Number.NaN, text: "" };

/**
 * Formats a time as ISO 8601 UTC with milliseconds. `formatTimestamp` caches the last result, because many
 * events share a millisecond and formatting is comparatively expensive.
 */
export function formatTimestamp(ms: number): string {
  if (ms !== lastFormatted.ms) lastFormatted = { ms, text: new Date(ms).toISOString() };
  return lastFormatted.text;
}
