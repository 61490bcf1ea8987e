import type { Clock, StoreHealth, StoreState, StoreStateChange } from "../engine/index.ts";

/** A state in which the store cannot commit. */
export type UnhealthyStoreState = Exclude<StoreState, "healthy">;

/**
 * Delays in milliseconds between the attempts to recover a store. The last delay repeats. A store is
 * therefore healthy again at most about one second after the end of the fault.
 */
const RECOVERY_DELAYS_MS = [20, 50, 100, 200, 400, 800, 1000];
/**
 * Time in milliseconds after a recovery in which a further failure continues the delays of the earlier one. A fault that
 * the recovery does not notice then changes the state at most about once per second.
 */
const SETTLED_AFTER_MS = 10_000;

/**
 * Tracks the state of a store. After a failure, the monitor calls `recover` repeatedly until `recover`
 * resolves. If `recover` rejects, `recover` must have reported the failure before.
 */
export class StoreHealthMonitor implements StoreHealth {
  readonly #storeName: string;
  readonly #recover: () => Promise<void>;
  readonly #listeners = new Set<(change: StoreStateChange) => void>();
  #state: StoreState = "healthy";
  readonly #schedule: Clock["schedule"];
  #cancelTimer: (() => void) | undefined;
  #cancelSettling: (() => void) | undefined;
  #attemptCount = 0;
  #isRecovering = false;

  constructor(
    storeName: string,
    recover: () => Promise<void>,
    schedule: Clock["schedule"] = scheduleOnSystemClock,
  ) {
    this.#storeName = storeName;
    this.#recover = recover;
    this.#schedule = schedule;
  }

  get state(): StoreState {
    return this.#state;
  }

  onChange(listener: (change: StoreStateChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  reportFailure(state: UnhealthyStoreState, error: Error): void {
    this.#cancelSettling?.();
    this.#cancelSettling = undefined;
    this.#changeState(state, error);
    this.#scheduleRecovery();
  }

  reportSuccess(): void {
    if (this.#state === "healthy") return;
    this.#stopRecovery();
    this.#cancelSettling = this.#schedule(SETTLED_AFTER_MS, () => {
      this.#attemptCount = 0;
    });
    this.#changeState("healthy");
  }

  /** Stops all attempts to recover, without a report. A closed store has no fault. */
  reset(): void {
    this.#stopRecovery();
    this.#attemptCount = 0;
    this.#state = "healthy";
  }

  #stopRecovery(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#cancelSettling?.();
    this.#cancelSettling = undefined;
  }

  #scheduleRecovery(): void {
    if (this.#cancelTimer || this.#isRecovering) return;
    const delayMs = RECOVERY_DELAYS_MS[Math.min(this.#attemptCount++, RECOVERY_DELAYS_MS.length - 1)] ?? 0;
    this.#cancelTimer = this.#schedule(delayMs, () => void this.#attemptRecovery());
  }

  async #attemptRecovery(): Promise<void> {
    this.#cancelTimer = undefined;
    this.#isRecovering = true;
    const isRecovered = await this.#recover().then(
      () => true,
      () => false,
    );
    this.#isRecovering = false;
    if (isRecovered) this.reportSuccess();
    else if (this.#state !== "healthy") this.#scheduleRecovery();
  }

  #changeState(state: StoreState, error?: Error): void {
    const previousState = this.#state;
    if (state === previousState) return;
    this.#state = state;
    const change = { store: this.#storeName, state, previousState, ...(error ? { error } : {}) };
    for (const listener of this.#listeners) listener(change);
  }
}

function scheduleOnSystemClock(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
