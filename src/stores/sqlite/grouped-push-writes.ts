import { findStoreStateAfterError, isSqliteError } from "./sqlite-error-conversion.ts";
import type { TaskTables } from "./task-tables.ts";

/** A change of the webhooks that waits for the next commit. */
export interface PendingPushWrite {
  readonly run: (tables: TaskTables) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

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
  takeGroup(): readonly PendingPushWrite[] {
    const writes = this.#pending;
    this.#pending = [];
    return writes;
  }

  /** Adds the changes of a group whose commit has failed. */
  putBack(writes: readonly PendingPushWrite[]): void {
    this.#pending = [...writes, ...this.#pending];
    if (writes.length > 0) this.#scheduleFlush();
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

/**
 * Runs changes within the current transaction, and returns the functions that report their outcomes after the commit. An
 * error that concerns only one statement, such as a text that is too long for SQLite, rejects only its own change.
 */
export function runPushWrites(tables: TaskTables, writes: readonly PendingPushWrite[]): (() => void)[] {
  return writes.map(({ run, resolve, reject }) => {
    try {
      const result = run(tables);
      return () => resolve(result);
    } catch (error) {
      if (!isSqliteError(error) || findStoreStateAfterError(error) !== undefined) throw error;
      return () => reject(error);
    }
  });
}
