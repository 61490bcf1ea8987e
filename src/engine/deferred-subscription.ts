import type { LogEvent } from "../protocol/index.ts";
import type { Subscription } from "./log-subscription.ts";

/** A subscription that begins once another subscription is available. */
export class DeferredSubscription implements Subscription {
  readonly #inner: Promise<Subscription | undefined>;
  readonly #onClose: () => void;
  #opened: Subscription | undefined;
  #isClosed = false;
  #wakeReader: () => void = () => {};

  /** `onClose` is called if the subscription ends before `opening` resolves with a subscription. */
  constructor(opening: Promise<Subscription>, onClose: () => void) {
    this.#onClose = onClose;
    const closed = new Promise<undefined>((resolve) => {
      this.#wakeReader = () => resolve(undefined);
    });
    const opened = opening.then(
      (inner) => {
        this.#opened = inner;
        if (this.#isClosed) inner.close();
        return inner;
      },
      (error: unknown) => {
        onClose();
        throw error;
      },
    );
    this.#inner = Promise.race([opened, closed]);
    // The reader receives the error. Without a reader, the error is ignored.
    this.#inner.catch(() => {});
    opened.catch(() => {});
  }

  async next(): Promise<readonly LogEvent[] | undefined> {
    const inner = await this.#inner;
    return await inner?.next();
  }

  get isComplete(): boolean {
    return this.#opened?.isComplete ?? false;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#opened) this.#opened.close();
    else this.#onClose();
    this.#wakeReader();
  }
}
