import { Bag, type BagItem } from "../data-structures/index.ts";

/**
 * How often it is looked whether anything came, in milliseconds. A piece of text waits at most twice as long for what
 * follows it, which is less than a reader notices.
 */
const CHECK_INTERVAL_MS = 25;

/** Somebody who holds something back until what follows it comes. */
export interface IdleListener extends BagItem {
  /** Nothing came since it was last looked. */
  isIdle: boolean;
  onIdle(): void;
}

/**
 * Tells those who hold something back when nothing follows. One clock for all runs of an agent: a timer that is begun
 * and ended for every run costs as much as five of its events.
 */
export class IdleFlusher {
  readonly #listeners = new Bag<IdleListener>();
  #timer: NodeJS.Timeout | undefined;

  /** Something came, and may be held back. */
  watch(who: IdleListener): void {
    who.isIdle = false;
    if (who.slot >= 0) return;
    this.#listeners.add(who);
    this.#timer ??= setInterval(this.#notifyIdle, CHECK_INTERVAL_MS).unref();
  }

  unwatch(who: IdleListener): void {
    this.#listeners.delete(who);
  }

  readonly #notifyIdle = (): void => {
    if (this.#listeners.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const who of this.#listeners.toArray()) {
      if (who.isIdle) {
        this.unwatch(who);
        who.onIdle();
      } else who.isIdle = true;
    }
  };
}
