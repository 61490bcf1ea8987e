/** Schedule for retries of failed deliveries. */
export interface RetryPolicy {
  /**
   * Maximum delay in milliseconds before the first retry. The maximum delay doubles with each later retry
   * of the same delivery. Default: 1,000 ms.
   */
  readonly initialDelayMs: number;
  /**
   * Maximum retry delay in milliseconds, even if the receiver requests a longer delay. Default: 10 minutes.
   */
  readonly maxDelayMs: number;
  /**
   * Time in milliseconds after which delivery to a continuously failing webhook stops permanently. Default:
   * 24 hours.
   */
  readonly giveUpAfterMs: number;
}

export function resolveRetryPolicy(options: Partial<RetryPolicy> = {}): RetryPolicy {
  return {
    initialDelayMs: options.initialDelayMs ?? 1000,
    maxDelayMs: options.maxDelayMs ?? 10 * 60_000,
    giveUpAfterMs: options.giveUpAfterMs ?? 24 * 60 * 60_000,
  };
}

/**
 * Returns the delay in milliseconds before the next delivery, after `failures` consecutive failures (1 or
 * more). The retry delay doubles with each failure. `random` (0 to 1) reduces the delay by up to half.
 * Deliveries that failed at the same time are therefore retried at different times. The retry delay is at
 * least the delay that the receiver requests, up to `maxDelayMs`.
 */
export function computeRetryDelay(
  failures: number,
  random: number,
  { initialDelayMs, maxDelayMs }: RetryPolicy,
  retryAfterMs = 0,
): number {
  const delayMs = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(failures - 1, 50));
  return Math.min(maxDelayMs, Math.max(delayMs * (1 - random / 2), retryAfterMs));
}
