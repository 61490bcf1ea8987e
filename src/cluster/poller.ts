import { Deferred } from "../base/data-structures/index.ts";
import type { Clock } from "../engine/index.ts";

/** Delay in milliseconds until the next poll after a failed poll. */
const RETRY_DELAY_MS = 250;

/** Calls a function repeatedly, one call at a time. */
export class Poller {
  readonly #clock: Clock;
  readonly #poll: () => Promise<void>;
  readonly #getDelayMs: () => number | undefined;
  #isPolling = false;
  #isWoken = false;
  #waiters: Deferred[] = [];
  #stopError: Error | undefined;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  /** `getDelayMs` returns the delay until the next poll, or `undefined` while there is nothing to poll. */
  constructor(clock: Clock, poll: () => Promise<void>, getDelayMs: () => number | undefined) {
    this.#clock = clock;
    this.#poll = poll;
    this.#getDelayMs = getDelayMs;
  }

  /** True if the next poll has a time. */
  get isScheduled(): boolean {
    return this.#timer !== undefined || this.#isPolling;
  }

  /** Polls at once, or again after the current poll. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isPolling && !this.#stopError) void this.#pollUntilIdle();
  }

  /** Polls like `wake`. Resolves after a poll that has begun after the call, or rejects if the poll fails or cannot begin. */
  pollNow(): Promise<void> {
    if (this.#stopError) return Promise.reject(this.#stopError);
    const waiter = new Deferred();
    this.#waiters.push(waiter);
    this.wake();
    return waiter.promise;
  }

  /** Schedules the next poll, because there is more to poll than before. */
  update(): void {
    if (!this.#isPolling && !this.#stopError) this.#schedule(this.#getDelayMs());
  }

  /** Stops polling. Waiting and later callers of `pollNow` are rejected with `error`. */
  stop(error: Error): void {
    this.#stopError = error;
    this.#cancelTimer();
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }

  async #pollUntilIdle(): Promise<void> {
    this.#isPolling = true;
    this.#cancelTimer();
    let hasFailed = false;
    while (this.#isWoken && !this.#stopError && !hasFailed) {
      this.#isWoken = false;
      const waiters = this.#waiters.splice(0);
      try {
        await this.#poll();
        for (const waiter of waiters) waiter.resolve();
      } catch (error) {
        // The store reports its failures through its health.
        hasFailed = true;
        for (const waiter of waiters) waiter.reject(error);
      }
    }
    this.#isPolling = false;
    if (!this.#stopError) this.#schedule(hasFailed ? RETRY_DELAY_MS : this.#getDelayMs());
  }

  #schedule(delayMs: number | undefined): void {
    if (delayMs === undefined) return this.#cancelTimer();
    const at = this.#clock.monotonic() + delayMs;
    if (this.#timer && this.#timer.at <= at) return;
    this.#cancelTimer();
    const cancel = this.#clock.schedule(delayMs, () => {
      this.#timer = undefined;
      this.wake();
    });
    this.#timer = { at, cancel };
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
