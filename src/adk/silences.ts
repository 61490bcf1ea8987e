import { Bag, type Bagged } from "../base/index.ts";

/**
 * How often it is looked whether anything came, in milliseconds. A piece of text waits at most twice as long for what
 * follows it, which is less than a reader notices.
 */
const LOOK_MS = 25;

/** Somebody who holds something back until what follows it comes. */
export interface Holding extends Bagged {
  /** Nothing came since it was last looked. */
  silent: boolean;
  onSilence(): void;
}

/**
 * Tells those who hold something back when nothing follows. One clock for all runs of an agent: a timer that is begun
 * and ended for every run costs as much as five of its events.
 */
export class Silences {
  readonly #holding = new Bag<Holding>();
  #clock: NodeJS.Timeout | undefined;

  /** Something came, and may be held back. */
  watch(who: Holding): void {
    who.silent = false;
    if (who.slot >= 0) return;
    this.#holding.add(who);
    this.#clock ??= setInterval(this.#look, LOOK_MS).unref();
  }

  forget(who: Holding): void {
    this.#holding.delete(who);
  }

  readonly #look = (): void => {
    if (this.#holding.size === 0) {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
    for (const who of this.#holding.all()) {
      if (who.silent) {
        this.forget(who);
        who.onSilence();
      } else who.silent = true;
    }
  };
}
