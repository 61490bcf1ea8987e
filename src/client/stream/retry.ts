import { delay, isTimeoutError } from "../http/deadline.ts";
import { A2AError } from "../../protocol/index.ts";

/** Retry policy for streams that lose their connection, and for failed read requests. */
export interface RetryOptions {
  /**
   * Maximum number of consecutive attempts without progress. The default is 10 for streams and 3 for reads.
   * If `maxRetries` is 0, failed requests are not retried.
   */
  readonly maxRetries?: number;
  /**
   * Maximum delay in milliseconds before the first retry. The maximum doubles with each further retry.
   * Default: 200.
   */
  readonly initialDelayMs?: number;
  /** Maximum delay in milliseconds before any retry. Default: 10,000. */
  readonly maxDelayMs?: number;
  /** Returns a random number that is at least 0 and less than 1. Default: `Math.random`. */
  readonly random?: () => number;
  /**
   * Waits for the given number of milliseconds, or rejects with the abort reason of the signal. Default: a
   * timer.
   */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

const DEFAULT_MAX_RETRY_DELAY_MS = 10_000;
/** Maximum delay in milliseconds that a server can request before a stream reconnects. */
const MAX_REQUESTED_DELAY_MS = 300_000;

/**
 * Delays retries exponentially with full jitter, so that the clients of a restarted server do not reconnect
 * at the same time.
 */
export class Backoff {
  readonly #options: Required<RetryOptions>;
  #failures = 0;

  constructor({
    maxRetries = 10,
    initialDelayMs = 200,
    maxDelayMs = DEFAULT_MAX_RETRY_DELAY_MS,
    random = Math.random,
    sleep = delay,
  }: RetryOptions) {
    this.#options = { maxRetries, initialDelayMs, maxDelayMs, random, sleep };
  }

  /** The number of failures since the stream last received a new event. */
  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }

  /**
   * Waits before the next attempt, for at least the delay that the server requested, up to five minutes. Returns false
   * without waiting if no attempts are left. `onRetry` is called before the wait.
   */
  async waitForRetry(
    failure: A2AError,
    signal: AbortSignal | undefined,
    onRetry?: () => void,
  ): Promise<boolean> {
    const { maxRetries, initialDelayMs, maxDelayMs, random, sleep } = this.#options;
    if (this.#failures >= maxRetries) return false;
    onRetry?.();
    const ceiling = Math.min(maxDelayMs, initialDelayMs * 2 ** this.#failures);
    this.#failures += 1;
    const requestedMs = Math.min((failure.retryAfter ?? 0) * 1_000, MAX_REQUESTED_DELAY_MS);
    await sleep(Math.max(random() * ceiling, requestedMs), signal);
    return true;
  }
}

/** Returns whether a retry may succeed after an error. */
export function isRetryable(error: unknown): error is A2AError {
  return (
    error instanceof A2AError && (error.reason === "UNAVAILABLE" || error.reason === "RESOURCE_EXHAUSTED")
  );
}

/**
 * Calls a function that is safe to repeat, and repeats the call while the agent is unreachable or overloaded. If the
 * agent requests a delay above `maxDelayMs`, the function immediately throws an error with the requested delay.
 */
export async function retrySafeRequest<T>(
  { maxRetries = 3, maxDelayMs = DEFAULT_MAX_RETRY_DELAY_MS, ...options }: RetryOptions,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
  shouldRetry: (error: A2AError) => boolean = () => true,
): Promise<T> {
  const backoff = new Backoff({ maxRetries, maxDelayMs, ...options });
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (
        !isRetryable(error) ||
        isTimeoutError(error) ||
        !shouldRetry(error) ||
        (error.retryAfter ?? 0) * 1_000 > maxDelayMs
      )
        throw error;
      if (!(await backoff.waitForRetry(error, signal))) throw error;
    }
  }
}
