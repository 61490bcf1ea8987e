import { A2AError } from "../protocol/index.ts";

/** How a cut stream is picked up again. */
export interface Reconnect {
  /** Tries without progress before giving up. Default 10; 0 never reconnects. */
  readonly tries?: number;
  /** The longest wait before the first try, doubled with each further one. Default 200. */
  readonly firstDelayMs?: number;
  /** Default 10,000. */
  readonly maxDelayMs?: number;
  /** A number from 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Waits, or rejects with the reason of the signal. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Waits between tries: exponential with full jitter, so that the clients of a restarted server do not come at once. */
export class Backoff {
  readonly #options: Required<Reconnect>;
  #failures = 0;

  constructor({
    tries = 10,
    firstDelayMs = 200,
    maxDelayMs = 10_000,
    random = Math.random,
    sleep = pause,
  }: Reconnect) {
    this.#options = { tries, firstDelayMs, maxDelayMs, random, sleep };
  }

  /** Failures since the last progress. */
  get failures(): number {
    return this.#failures;
  }

  progress(): void {
    this.#failures = 0;
  }

  /** Waits before the next try, at least as long as the server asked for; false when there is none left. */
  async next(cut: A2AError, signal: AbortSignal | undefined): Promise<boolean> {
    const { tries, firstDelayMs, maxDelayMs, random, sleep } = this.#options;
    if (this.#failures >= tries) return false;
    const ceiling = Math.min(maxDelayMs, firstDelayMs * 2 ** this.#failures);
    this.#failures += 1;
    await sleep(Math.max(random() * ceiling, (cut.retryAfter ?? 0) * 1_000), signal);
    return true;
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
