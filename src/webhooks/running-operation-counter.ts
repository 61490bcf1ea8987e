import { Deferred } from "../base/data-structures/index.ts";

/** Counts running operations, so that code can wait until no operation is running. */
export class RunningOperationCounter {
  #count = 0;
  #idle: Deferred | undefined;

  increment(): void {
    this.#count++;
  }

  decrement(): void {
    this.#count--;
    if (this.#count > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  /**
   * Returns a promise that resolves when no operation is running. Returns `undefined` if no operation is
   * running now.
   */
  waitForZero(): Promise<void> | undefined {
    return this.#count === 0 ? undefined : (this.#idle ??= new Deferred()).promise;
  }
}
