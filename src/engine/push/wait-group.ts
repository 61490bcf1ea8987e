import { Deferred } from "../../data-structures/index.ts";

/** Counts what is under way, for whoever waits until nothing is. */
export class WaitGroup {
  #count = 0;
  #idle: Deferred | undefined;

  add(): void {
    this.#count++;
  }

  done(): void {
    this.#count--;
    if (this.#count > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /** Resolves when nothing is under way; undefined when nothing is. */
  wait(): Promise<void> | undefined {
    return this.#count === 0 ? undefined : (this.#idle ??= new Deferred()).promise;
  }
}
