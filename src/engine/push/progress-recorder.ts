import type { Clock } from "../clock.ts";
import type { PushStore, WebhookProgress } from "./push-store.ts";

/** How long deliveries may go unrecorded; after a crash as much is delivered once more. */
const FLUSH_INTERVAL_MS = 500;

/**
 * Remembers how far webhooks have come, and writes it down once in a while in one transaction: a stream of events costs
 * a write per half second, not one per event.
 */
export class ProgressRecorder {
  readonly #store: PushStore;
  readonly #clock: Clock;
  readonly #onFlushed: () => void;
  readonly #onError: (error: unknown) => void;
  #unsaved = new Map<number, WebhookProgress>();
  /** What is being written down. */
  #saving = new Map<number, WebhookProgress>();
  #flushing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | undefined;

  /** `onRest`: called after each writing down. */
  constructor(store: PushStore, clock: Clock, onRest: () => void, onError: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onFlushed = onRest;
    this.#onError = onError;
  }

  record(progress: WebhookProgress): void {
    this.#unsaved.set(progress.key, progress);
    this.scheduleFlush();
  }

  /** What the store may not know yet of a webhook. */
  findUnsaved(key: number): WebhookProgress | undefined {
    return this.#unsaved.get(key) ?? this.#saving.get(key);
  }

  /** The webhook was registered again: what failed before does not count. */
  clearFailure(key: number): void {
    const known = this.findUnsaved(key);
    if (known) this.record({ key, deliveredSeq: known.deliveredSeq, isFinished: false });
  }

  /** Has `onRest` called soon, whether or not there is something to write down. */
  scheduleFlush(): void {
    this.#cancelTimer ??= this.#clock.schedule(FLUSH_INTERVAL_MS, () => {
      this.#cancelTimer = undefined;
      void this.flush().then(this.#onFlushed);
    });
  }

  /** Writes down what was noted. What the store does not take is tried again later. */
  flush(): Promise<void> {
    return (this.#flushing = this.#flushing.then(() => this.#save()));
  }

  async #save(): Promise<void> {
    if (this.#unsaved.size === 0) return;
    this.#saving = this.#unsaved;
    this.#unsaved = new Map();
    try {
      await this.#store.saveProgress([...this.#saving.values()]);
    } catch (error) {
      this.#unsaved = new Map([...this.#saving, ...this.#unsaved]);
      this.#onError(error);
    }
    this.#saving = new Map();
    if (this.#unsaved.size > 0) this.scheduleFlush();
  }

  cancelScheduledFlush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
