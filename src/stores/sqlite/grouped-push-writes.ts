import { findStoreStateAfterError, isSqliteError } from "./sqlite-error-conversion.ts";
import type { TaskTables } from "./task-tables.ts";

/** A change of the webhooks that waits for the next commit. */
interface PendingPushWrite {
  readonly run: (tables: TaskTables) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The outcome of one change, which is reported after the commit. */
type PushWriteOutcome = { readonly result: unknown } | { readonly error: unknown };

/**
 * Collects changes of webhooks, so that many changes share one transaction and one sync of the disk. The
 * changes are part of the next commit of the store. If the store has no commit in the current turn of the
 * event loop, the changes are committed alone.
 */
export class GroupedPushWrites {
  readonly #commitGroup: () => Promise<unknown>;
  #pending: PendingPushWrite[] = [];
  #isFlushing = false;

  /** `commitGroup` commits a group that takes all pending changes. */
  constructor(commitGroup: () => Promise<unknown>) {
    this.#commitGroup = commitGroup;
  }

  /** Resolves with the result of `run` once the change is durable. `run` may be called repeatedly. */
  write<T>(run: (tables: TaskTables) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ run, resolve: (result) => resolve(result as T), reject });
      this.#scheduleFlush();
    });
  }

  /** Removes all pending changes, so that the caller commits them. */
  takeGroup(): PushWriteGroup {
    const writes = this.#pending;
    this.#pending = [];
    return new PushWriteGroup(writes);
  }

  /** Adds the changes of a group whose commit has failed. */
  putBack({ writes }: PushWriteGroup): void {
    if (writes.length === 0) return;
    this.#pending = [...writes, ...this.#pending];
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => void this.#flush());
  }

  /** While a commit is in progress, further changes form the next group. */
  async #flush(): Promise<void> {
    while (this.#pending.length > 0) await this.#commitGroup().catch(() => {});
    this.#isFlushing = false;
  }
}

/** Changes of webhooks that are committed in one transaction. */
export class PushWriteGroup {
  readonly writes: readonly PendingPushWrite[];
  #outcomes: readonly PushWriteOutcome[] = [];

  constructor(writes: readonly PendingPushWrite[]) {
    this.writes = writes;
  }

  /**
   * Runs all changes within the current transaction. An error that concerns only one statement, such as a text
   * that is too long for SQLite, rejects only its own change.
   */
  run(tables: TaskTables): void {
    this.#outcomes = this.writes.map(({ run }) => {
      try {
        return { result: run(tables) };
      } catch (error) {
        if (!isSqliteError(error) || findStoreStateAfterError(error) !== undefined) throw error;
        return { error };
      }
    });
  }

  /** Reports the outcomes after a durable commit. */
  resolve(): void {
    for (const [at, { resolve, reject }] of this.writes.entries()) {
      const outcome = this.#outcomes[at]!;
      if ("error" in outcome) reject(outcome.error);
      else resolve(outcome.result);
    }
  }

  reject(error: unknown): void {
    for (const write of this.writes) write.reject(error);
  }
}
