/** Time as the engine sees it: an input, so that tests own it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since some moment, with fractions; never goes backwards. */
  monotonic(): number;
  /** Calls back once after `ms`; the answer takes the call back. */
  schedule(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, callback) {
    const timer = setTimeout(callback, ms);
    // A pending deadline is no reason to keep a process alive.
    timer.unref?.();
    return () => clearTimeout(timer);
  },
};

let lastFormatted = { ms: Number.NaN, text: "" };

/** ISO 8601 UTC with milliseconds. Many events share a millisecond, and formatting one costs more than the rest of it. */
export function formatTimestamp(ms: number): string {
  if (ms !== lastFormatted.ms) lastFormatted = { ms, text: new Date(ms).toISOString() };
  return lastFormatted.text;
}
