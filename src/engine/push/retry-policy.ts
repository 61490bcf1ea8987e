/** When a delivery that failed is tried again, and for how long. */
export interface RetryPolicy {
  /** The longest pause before the first retry, in milliseconds; each later one is up to twice as long. Default 1,000. */
  readonly initialDelayMs: number;
  /** No pause is longer, whatever the receiver asks for. Default 10 minutes. */
  readonly maxDelayMs: number;
  /** A webhook that has failed for that long is dead. Default 24 hours. */
  readonly giveUpAfterMs: number;
}

export function resolveRetryPolicy(given: Partial<RetryPolicy> = {}): RetryPolicy {
  return {
    initialDelayMs: given.initialDelayMs ?? 1000,
    maxDelayMs: given.maxDelayMs ?? 10 * 60_000,
    giveUpAfterMs: given.giveUpAfterMs ?? 24 * 60 * 60_000,
  };
}

/**
 * The pause after so many failures in a row (from 1): twice as long each time, of which `random` (0 to 1) takes off up
 * to half, so that receivers that failed together are not tried together. Never shorter than the receiver asks for.
 */
export function computeRetryDelay(
  failures: number,
  random: number,
  { initialDelayMs: firstMs, maxDelayMs: mostMs }: RetryPolicy,
  retryAfterMs = 0,
): number {
  const whole = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 50));
  return Math.min(mostMs, Math.max(whole * (1 - random / 2), retryAfterMs));
}
