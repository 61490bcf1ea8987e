import { Deferred } from "../../data-structures/index.ts";

/** Counts running operations, so that code can wait until no operation is running. */
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

  /**
   * Returns a promise that resolves when no operation is running. Returns `undefined` if no operation is
   * running now.
   */
  wait(): Promise<void> | undefined {
    return this.#count === 0 ? undefined : (this.#idle ??= new Deferred()).promise;
  }
}
