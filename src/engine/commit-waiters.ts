import { Deferred } from "../data-structures/index.ts";

/** The promises of requests that wait for the next commit of a task, or for a change of its turns. */
export class CommitWaiters {
  #nextCommit: Deferred | undefined;
  #nextChange: Deferred | undefined;

  waitForCommit(): Promise<void> {
    return (this.#nextCommit ??= new Deferred()).promise;
  }

  waitForCommitOrTurnChange(): Promise<void> {
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

  /** Rejects all promises, because the task commits no more events. */
  reject(error: Error): void {
    this.#nextCommit?.reject(error);
    this.#nextChange?.reject(error);
  }
}
