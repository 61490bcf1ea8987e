import type { Clock } from "../clock.ts";
import type { PushStore, WebhookProgress } from "./push-store.ts";

/**
 * Interval in milliseconds between saves of the delivery progress. After a crash, the next process repeats
 * the deliveries of at most one flush interval.
 */
const PROGRESS_FLUSH_INTERVAL_MS = 500;

/** A saved batch of progress, and a reference to the batch that was saved next. */
export interface SavedProgress {
  readonly batch: ReadonlyMap<number, WebhookProgress>;
  next: SavedProgress | undefined;
}

/**
 * Records the delivery progress of webhooks and saves the progress periodically in one transaction. A
 * stream of events therefore costs one write per half second instead of one write per event.
 */
export class DeliveryProgressRecorder {
  readonly #store: PushStore;
  readonly #clock: Clock;
  readonly #onFlushed: () => void;
  readonly #onError: (error: unknown) => void;
  #unsaved = new Map<number, WebhookProgress>();
  /** Delivery progress that is currently being saved. */
  #saving = new Map<number, WebhookProgress>();
  /** Earlier batches remain in memory only while a lookup refers to them. */
  #lastSaved: SavedProgress = { batch: new Map(), next: undefined };
  #flushing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | undefined;

  /** `onFlushed` is called after each scheduled flush. */
  constructor(store: PushStore, clock: Clock, onFlushed: () => void, onError: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onFlushed = onFlushed;
    this.#onError = onError;
  }

  recordProgress(progress: WebhookProgress): void {
    this.#unsaved.set(progress.key, progress);
    this.scheduleFlush();
  }

  /** Returns the unsaved progress of a webhook. */
  findUnsaved(key: number): WebhookProgress | undefined {
    return this.#unsaved.get(key) ?? this.#saving.get(key);
  }

  /** The batch that was saved last. A read of the store that begins now contains its progress. */
  get lastSaved(): SavedProgress {
    return this.#lastSaved;
  }

  /**
   * Returns the progress of a webhook that a read of the store may lack: unsaved progress, and progress that was saved
   * after `atStart`, which is `lastSaved` at the start of the read.
   */
  findNewerThanRead(key: number, atStart: SavedProgress): WebhookProgress | undefined {
    let newest: WebhookProgress | undefined;
    for (let saved = atStart.next; saved; saved = saved.next) newest = saved.batch.get(key) ?? newest;
    return this.findUnsaved(key) ?? newest;
  }

  /** Clears the recorded failure of a webhook that was registered again. */
  clearReregisteredWebhookFailure(key: number): void {
    const known = this.findUnsaved(key);
    if (known) this.recordProgress({ key, deliveredSeq: known.deliveredSeq, isFinished: false });
  }

  /** Schedules a flush. `onFlushed` is called after the flush, even if the flush had nothing to save. */
  scheduleFlush(): void {
    this.#cancelTimer ??= this.#clock.schedule(PROGRESS_FLUSH_INTERVAL_MS, () => {
      this.#cancelTimer = undefined;
      void this.flush().then(this.#onFlushed);
    });
  }

  /**
   * Saves the recorded delivery progress. If the store rejects the progress, a later flush saves the
   * progress again.
   */
  flush(): Promise<void> {
    return (this.#flushing = this.#flushing.then(() => this.#save()));
  }

  async #save(): Promise<void> {
    if (this.#unsaved.size === 0) return;
    this.#saving = this.#unsaved;
    this.#unsaved = new Map();
    try {
      await this.#store.saveProgress([...this.#saving.values()]);
      const saved = { batch: this.#saving, next: undefined };
      this.#lastSaved.next = saved;
      this.#lastSaved = saved;
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
