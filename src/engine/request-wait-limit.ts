import type { A2AError } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";
import { createStoreUnavailableError, isStoreHealthy, type StoreHealth } from "./store-health.ts";

/** Maximum time in milliseconds for which a request waits for a store that cannot commit. */
const MAX_REQUEST_WAIT_MS = 1_000;

/**
 * Limits the time for which requests wait for a commit while the store cannot commit. The request that discovers a fault
 * is therefore answered soon. Its change still waits for the store, so that the outcome of the request is unknown. A
 * client that repeats the message or the cancellation receives the outcome.
 */
export class RequestWaitLimit {
  readonly #health: StoreHealth | undefined;
  readonly #clock: Clock;
  readonly #rejectWaits = new Set<(error: A2AError) => void>();
  #cancelTimer: (() => void) | undefined;

  constructor(health: StoreHealth | undefined, clock: Clock) {
    this.#health = health;
    this.#clock = clock;
    health?.onChange(({ state }) => {
      if (state !== "healthy") return this.#startTimer();
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
    });
  }

  /** False if the store can always commit, so that no request needs a limit. */
  get isNeeded(): boolean {
    return this.#health !== undefined;
  }

  /**
   * Resolves like `outcome`. Rejects with `UNAVAILABLE` if the store cannot commit for a second. `onLate` then receives
   * the outcome, so that the caller can release what the outcome holds.
   */
  wait<T>(outcome: Promise<T>, onLate?: (outcome: T) => void): Promise<T> {
    const health = this.#health;
    if (!health) return outcome;
    return new Promise<T>((resolve, reject) => {
      let isLate = false;
      const rejectWait = (error: A2AError): void => {
        isLate = true;
        reject(error);
      };
      this.#rejectWaits.add(rejectWait);
      if (!isStoreHealthy(health)) this.#startTimer();
      const settle = (value: T): void => {
        this.#rejectWaits.delete(rejectWait);
        if (isLate) onLate?.(value);
        else resolve(value);
      };
      outcome.then(settle, (error: unknown) => {
        this.#rejectWaits.delete(rejectWait);
        reject(error);
      });
    });
  }

  #startTimer(): void {
    this.#cancelTimer ??= this.#clock.schedule(MAX_REQUEST_WAIT_MS, () => {
      this.#cancelTimer = undefined;
      if (!this.#health || isStoreHealthy(this.#health)) return;
      const error = createStoreUnavailableError(this.#health);
      for (const rejectWait of this.#rejectWaits) rejectWait(error);
      this.#rejectWaits.clear();
    });
  }
}
