import type { Clock } from "../clock.ts";
import type { PushStore, WebhookProgress } from "./store.ts";

/** How long deliveries may go unrecorded; after a crash as much is delivered once more. */
const REST_MS = 500;

/**
 * Remembers how far webhooks have come, and writes it down once in a while in one transaction: a stream of events costs
 * a write per half second, not one per event.
 */
export class Progress {
  readonly #store: PushStore;
  readonly #clock: Clock;
  readonly #onRest: () => void;
  readonly #onError: (error: unknown) => void;
  #noted = new Map<number, WebhookProgress>();
  #timer: (() => void) | undefined;

  /** `onRest`: called after each writing down. */
  constructor(store: PushStore, clock: Clock, onRest: () => void, onError: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onRest = onRest;
    this.#onError = onError;
  }

  note(progress: WebhookProgress): void {
    this.#noted.set(progress.key, progress);
    this.schedule();
  }

  /** Forgets what was noted of a webhook; its registration has changed. */
  drop(key: number): void {
    this.#noted.delete(key);
  }

  /** Has `onRest` called soon, whether or not there is something to write down. */
  schedule(): void {
    this.#timer ??= this.#clock.after(REST_MS, () => {
      this.#timer = undefined;
      void this.flush().then(this.#onRest);
    });
  }

  /** Writes down what was noted. What the store does not take is tried again later. */
  async flush(): Promise<void> {
    const noted = this.#noted;
    if (noted.size === 0) return;
    this.#noted = new Map();
    try {
      await this.#store.advance([...noted.values()]);
    } catch (error) {
      this.#noted = new Map([...noted, ...this.#noted]);
      this.schedule();
      this.#onError(error);
    }
  }

  stop(): void {
    this.#timer?.();
    this.#timer = undefined;
  }
}
