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
  /** What is being written down. */
  #writing = new Map<number, WebhookProgress>();
  #flushing: Promise<void> = Promise.resolve();
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

  /** What the store may not know yet of a webhook. */
  of(key: number): WebhookProgress | undefined {
    return this.#noted.get(key) ?? this.#writing.get(key);
  }

  /** The webhook was registered again: what failed before does not count. */
  revive(key: number): void {
    const known = this.of(key);
    if (known) this.note({ key, delivered: known.delivered, finished: false });
  }

  /** Has `onRest` called soon, whether or not there is something to write down. */
  schedule(): void {
    this.#timer ??= this.#clock.after(REST_MS, () => {
      this.#timer = undefined;
      void this.flush().then(this.#onRest);
    });
  }

  /** Writes down what was noted. What the store does not take is tried again later. */
  flush(): Promise<void> {
    return (this.#flushing = this.#flushing.then(() => this.#write()));
  }

  async #write(): Promise<void> {
    if (this.#noted.size === 0) return;
    this.#writing = this.#noted;
    this.#noted = new Map();
    try {
      await this.#store.advance([...this.#writing.values()]);
    } catch (error) {
      this.#noted = new Map([...this.#writing, ...this.#noted]);
      this.#onError(error);
    }
    this.#writing = new Map();
    if (this.#noted.size > 0) this.schedule();
  }

  stop(): void {
    this.#timer?.();
    this.#timer = undefined;
  }
}
