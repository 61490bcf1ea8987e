import { Bag, type BagItem } from "../data-structures/index.ts";

/**
 * Time in milliseconds between two checks for new input. Buffered text is held for at most twice this time,
 * which a reader does not notice.
 */
const CHECK_INTERVAL_MS = 25;

/** A run that buffers output until more input arrives. */
export interface IdleListener extends BagItem {
  /** True if no input arrived since the last check. */
  isIdle: boolean;
  onIdle(): void;
}

/**
 * Notifies runs with buffered output when no input follows. All runs of an agent share one timer, because
 * starting and stopping a timer for each run costs as much as five events.
 */
export class IdleFlusher {
  readonly #listeners = new Bag<IdleListener>();
  #timer: NodeJS.Timeout | undefined;

  /** Resets the idle state of a listener and starts watching it. */
  watch(listener: IdleListener): void {
    listener.isIdle = false;
    if (listener.slot >= 0) return;
    this.#listeners.add(listener);
    this.#timer ??= setInterval(this.#notifyIdle, CHECK_INTERVAL_MS).unref();
  }

  unwatch(listener: IdleListener): void {
    this.#listeners.delete(listener);
  }

  readonly #notifyIdle = (): void => {
    if (this.#listeners.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const listener of this.#listeners.toArray()) {
      if (listener.isIdle) {
        this.unwatch(listener);
        listener.onIdle();
      } else listener.isIdle = true;
    }
  };
}
