import { Deferred } from "../data-structures/index.ts";

/** The promises of requests that wait for the next commit of a task, or for a change of its turns. */
export class CommitWaiters {
  #nextCommit: Deferred | undefined;
  #nextChange: Deferred | undefined;
  #error: Error | undefined;

  waitForCommit(): Promise<void> {
    if (this.#error) return Promise.reject(this.#error);
    return (this.#nextCommit ??= new Deferred()).promise;
  }

  waitForCommitOrTurnChange(): Promise<void> {
    if (this.#error) return Promise.reject(this.#error);
    return (this.#nextChange ??= new Deferred()).promise;
  }

  resolveTurnChange(): void {
    const change = this.#nextChange;
    this.#nextChange = undefined;
    change?.resolve();
  }

  /** Also resolves the promises of `waitForCommitOrTurnChange`. */
  resolveCommit(): void {
    const commit = this.#nextCommit;
    this.#nextCommit = undefined;
    commit?.resolve();
    this.resolveTurnChange();
  }

  /** Rejects all promises, also later ones, because the task commits no more events. */
  reject(error: Error): void {
    this.#error = error;
    this.#nextCommit?.reject(error);
    this.#nextChange?.reject(error);
  }
}
