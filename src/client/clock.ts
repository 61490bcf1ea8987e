/**
 * Returns the wall-clock time in milliseconds since 1970, which can jump in both directions. Use it only to
 * compare with a date that another computer sent.
 */
export function getWallTimeMs(): number {
  return Date.now();
}

/**
 * Returns the monotonic time in milliseconds since an arbitrary starting point. Lifetimes of tokens and agent
 * cards are measured with this time, so a change of the wall clock does not extend a lifetime.
 */
export function getMonotonicTimeMs(): number {
  return performance.now();
}
