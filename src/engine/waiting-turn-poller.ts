import type { Clock } from "./clock.ts";

interface WaitingTurnPollerDependencies {
  readonly clock: Clock;
  /** Interval in milliseconds between two polls. */
  readonly pollMs: number;
  /** Claims and starts waiting turns. Resolves once the turns have started. */
  readonly startWaitingTurns: () => Promise<void>;
}

/**
 * Looks for waiting turns of a store that several nodes share. A turn waits if a node that starts no agents has accepted
 * its message, or if a node that stops has released it.
 */
export class WaitingTurnPoller {
  readonly #context: WaitingTurnPollerDependencies;
  #isPolling = false;
  #isRequested = false;
  #isStopped = true;
  #cancelTimer: () => void = () => {};

  constructor(context: WaitingTurnPollerDependencies) {
    this.#context = context;
  }

  start(): void {
    this.#isStopped = false;
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  /** Polls at once, or again after the current poll. */
  wake(): void {
    this.#isRequested = true;
    if (!this.#isPolling && !this.#isStopped) void this.#poll();
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    this.#cancelTimer();
    do {
      this.#isRequested = false;
      // The recovery pass reports failures of the store.
      await this.#context.startWaitingTurns().catch(() => {});
    } while (this.#isRequested && !this.#isStopped);
    this.#isPolling = false;
    this.#schedule();
  }

  #schedule(): void {
    const { clock, pollMs } = this.#context;
    if (!this.#isStopped) this.#cancelTimer = clock.schedule(pollMs, () => void this.#poll());
  }
}
