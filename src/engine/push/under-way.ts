import { Deferred } from "../../base/index.ts";

/** Counts what is under way, for whoever waits until nothing is. */
export class UnderWay {
  #count = 0;
  #quiet: Deferred | undefined;

  begin(): void {
    this.#count++;
  }

  end(): void {
    this.#count--;
    if (this.#count > 0) return;
    this.#quiet?.resolve();
    this.#quiet = undefined;
  }

  /** Resolves when nothing is under way; undefined when nothing is. */
  quiet(): Promise<void> | undefined {
    return this.#count === 0 ? undefined : (this.#quiet ??= new Deferred()).promise;
  }
}
