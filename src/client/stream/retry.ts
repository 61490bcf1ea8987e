import { delay } from "../http/abort.ts";
import { A2AError } from "../../protocol/index.ts";

/** How a cut stream is picked up again, or a read that failed is repeated. */
export interface RetryOptions {
  /** Tries without progress before giving up; 0 never tries again. Default 10 for streams, 3 for reads. */
  readonly maxRetries?: number;
  /** The longest wait before the first try, doubled with each further one. Default 200. */
  readonly initialDelayMs?: number;
  /** Default 10,000. */
  readonly maxDelayMs?: number;
  /** A number from 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Waits, or rejects with the reason of the signal. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

const MAX_DELAY_MS = 10_000;

/** Waits between tries: exponential with full jitter, so that the clients of a restarted server do not come at once. */
export class Backoff {
  readonly #options: Required<RetryOptions>;
  #failures = 0;

  constructor({
    maxRetries = 10,
    initialDelayMs = 200,
    maxDelayMs = MAX_DELAY_MS,
    random = Math.random,
    sleep = delay,
  }: RetryOptions) {
    this.#options = { maxRetries, initialDelayMs, maxDelayMs, random, sleep };
  }

  /** Failures since the last progress. */
  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** Waits before the next try, at least as long as the server asked for; false when there is none left. */
  async waitForRetry(failure: A2AError, signal: AbortSignal | undefined): Promise<boolean> {
    const { maxRetries, initialDelayMs, maxDelayMs, random, sleep } = this.#options;
    if (this.#failures >= maxRetries) return false;
    const ceiling = Math.min(maxDelayMs, initialDelayMs * 2 ** this.#failures);
    this.#failures += 1;
    await sleep(Math.max(random() * ceiling, (failure.retryAfter ?? 0) * 1_000), signal);
    return true;
  }
}

/** True for what another try may mend; all else is an answer. */
export function isRetryable(error: unknown): error is A2AError {
  return (
    error instanceof A2AError && (error.reason === "UNAVAILABLE" || error.reason === "RESOURCE_EXHAUSTED")
  );
}

/**
 * Repeats what only reads while the agent is out of reach or has too much to do. One that wants to be left alone for
 * longer than the longest wait is: the error tells for how long.
 */
export async function retryRead<T>(
  { maxRetries = 3, maxDelayMs = MAX_DELAY_MS, ...options }: RetryOptions,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
  shouldRetry: (error: A2AError) => boolean = () => true,
): Promise<T> {
  const backoff = new Backoff({ maxRetries, maxDelayMs, ...options });
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isRetryable(error) || !shouldRetry(error) || (error.retryAfter ?? 0) * 1_000 > maxDelayMs)
        throw error;
      if (!(await backoff.waitForRetry(error, signal))) throw error;
    }
  }
}
