/** Rate and burst of `TokenBuckets`. */
export interface TokenBucketsOptions {
  /** Number of tokens per second that each holder receives. `Infinity` disables the limit. */
  readonly ratePerSecond: number;
  /** Maximum number of unused tokens of a holder. Default: the tokens of one second, and at least 1. */
  readonly burst?: number;
}

/**
 * Limits the rate of work by holder. Each holder has a bucket of tokens, which fills up at a constant rate. Within any
 * `t` seconds, a holder that asks `findDelay` before each token takes at most `burst + rate * t` tokens. Times are
 * monotonic milliseconds. The memory is limited, because a full bucket needs no entry.
 */
export class TokenBuckets {
  readonly #msPerToken: number;
  readonly #burst: number;
  /** Times when the buckets are full again (generic cell rate algorithm), starting with the earliest use. */
  readonly #fullAt = new Map<string, number>();

  constructor({ ratePerSecond, burst = Math.max(1, ratePerSecond) }: TokenBucketsOptions) {
    this.#msPerToken = 1000 / ratePerSecond;
    this.#burst = burst;
  }

  /** Returns for how many milliseconds the holder must wait for its next token. The result 0 is no wait. */
  findDelay(holder: string, now: number): number {
    if (this.#msPerToken === 0) return 0;
    const missingMs = (this.#fullAt.get(holder) ?? now) - now;
    return Math.max(0, missingMs - (this.#burst - 1) * this.#msPerToken);
  }

  /** Takes a token, even if the bucket is empty. The holder then waits longer for its next token. */
  takeToken(holder: string, now: number): void {
    if (this.#msPerToken === 0) return;
    const fullAt = Math.max(this.#fullAt.get(holder) ?? now, now) + this.#msPerToken;
    this.#fullAt.delete(holder);
    this.#fullAt.set(holder, fullAt);
    for (const [earliest, itsFullAt] of this.#fullAt) {
      if (itsFullAt > now) break;
      this.#fullAt.delete(earliest);
    }
  }

  /** Number of holders whose buckets are not full. */
  get size(): number {
    return this.#fullAt.size;
  }
}
