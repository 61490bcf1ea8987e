import { LruCache } from "../../base/data-structures/index.ts";
import type { TaskScope } from "../../engine/index.ts";
import type { TaskState } from "../../protocol/index.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { SqlStatements, type SqlDatabase } from "./sql-database.ts";
import { decodeState, encodeState } from "./status-columns.ts";
import { getScopeKey, isSameScope } from "../task-owner-scope-key.ts";

/** A task as the process has written it. */
export interface WrittenTask {
  readonly key: number;
  readonly state: TaskState;
  readonly timestamp: string;
}

interface TaskTablesOptions {
  /** Encrypts the secrets of push configurations. */
  readonly cipher: PushSecretCipher;
  /** Maximum size of a row that contains several events or a snapshot. Default: no limit. */
  readonly maxRowBytes?: number;
}

/** The tables of an open database, and what the process remembers of their rows. */
export class TaskTables {
  readonly db: SqlDatabase;
  readonly sql: SqlStatements;
  readonly cipher: PushSecretCipher;
  readonly maxRowBytes: number;
  readonly scopes: TaskOwnerScopeTable;
  readonly counts: TaskCountTable;
  readonly checkpoints: LargeContentCheckpoints;
  /** Running tasks by scope and id, because running tasks soon receive more appends. */
  writtenTasks: LruCache<WrittenTask> = createWrittenTaskCache();
  /**
   * Key of the next new task. The process assigns task keys, so that a message can be written before its task. This is
   * safe, because no other process writes to the database.
   */
  nextKey: number;

  constructor(db: SqlDatabase, { cipher, maxRowBytes = Infinity }: TaskTablesOptions) {
    this.db = db;
    this.sql = new SqlStatements(db);
    this.cipher = cipher;
    this.maxRowBytes = maxRowBytes;
    this.scopes = new TaskOwnerScopeTable(this.sql);
    this.counts = new TaskCountTable(this.sql);
    this.checkpoints = new LargeContentCheckpoints(db);
    const last = this.sql.get<{ key: number }>(
      "SELECT max(coalesce((SELECT max(key) FROM task), 0), coalesce((SELECT max(key) FROM deleted_task), 0)) AS key",
    );
    this.nextKey = (last?.key ?? 0) + 1;
  }

  /** Forgets what a rolled back transaction has changed, because cached rows may never have been committed. */
  discardChanges(): void {
    this.counts.discardChanges();
    this.writtenTasks = createWrittenTaskCache();
    this.scopes.clearCache();
  }
}

function createWrittenTaskCache(): LruCache<WrittenTask> {
  return new LruCache(10_000);
}

/** Access to the tables of an open database. Each function rejects or throws `UNAVAILABLE` if the store is closed. */
export interface SqlAccess {
  /**
   * Resolves with the result of a query once all data that the query has read is durable. After a disk failure, rejects
   * if `isInDoubt` returns true for the result. By default, every result is in doubt.
   */
  readonly read: <T>(query: (tables: TaskTables) => T, isInDoubt?: (result: T) => boolean) => Promise<T>;
  /** Runs a transaction, and resolves with its result once the transaction is durable. */
  readonly write: <T>(work: (tables: TaskTables) => T) => Promise<T>;
  /** Changes webhooks, like `write`. */
  readonly writePush: <T>(work: (tables: TaskTables) => T) => Promise<T>;
  /** Returns true if a disk failure has left appends of the task in doubt. */
  readonly isInDoubt: (scope: TaskScope, taskId: string) => boolean;
}

const ADD_TO_COUNT_SQL = `INSERT INTO task_count (scope, state, count) VALUES (?, ?, ?)
  ON CONFLICT (scope, state) DO UPDATE SET count = count + excluded.count`;

/**
 * Numbers of tasks by scope and state. Counting the tasks themselves would take 40 ms for a million tasks. The
 * table collects the changes of a transaction in memory, so that a transaction of many appends updates each
 * number once.
 */
class TaskCountTable {
  readonly #pendingChanges = new Map<number, Map<TaskState, number>>();
  readonly #sql: SqlStatements;

  constructor(sql: SqlStatements) {
    this.#sql = sql;
  }

  /** Returns the number of committed tasks of a scope by state, without the states that have no tasks. */
  countTasksByState(scope: number): Map<TaskState, number> {
    const rows = this.#sql.all<{ state: number; count: number }>(
      "SELECT state, count FROM task_count WHERE scope = ? AND count > 0",
      scope,
    );
    return new Map(rows.map(({ state, count }) => [decodeState(state), count]));
  }

  /** Counts a new task, a deleted task, or a task with a new state. A missing state means that there is no task. */
  moveTask(scope: number, from: TaskState | undefined, to: TaskState | undefined): void {
    if (from === to) return;
    let changes = this.#pendingChanges.get(scope);
    if (!changes) this.#pendingChanges.set(scope, (changes = new Map()));
    if (from) changes.set(from, (changes.get(from) ?? 0) - 1);
    if (to) changes.set(to, (changes.get(to) ?? 0) + 1);
  }

  /** Deletes the numbers of a scope without tasks. Call `deleteScope` only within a transaction. */
  deleteScope(scope: number): void {
    this.#pendingChanges.delete(scope);
    this.#sql.run("DELETE FROM task_count WHERE scope = ?", scope);
  }

  /** Writes the changes since the last transaction. Call `writeChanges` at the end of each transaction. */
  writeChanges(): void {
    if (this.#pendingChanges.size === 0) return;
    for (const [scope, changes] of this.#pendingChanges)
      for (const [state, change] of changes)
        if (change !== 0) this.#sql.run(ADD_TO_COUNT_SQL, scope, encodeState(state), change);
    this.#pendingChanges.clear();
  }

  /** Forgets the changes of a transaction that is rolled back. */
  discardChanges(): void {
    this.#pendingChanges.clear();
  }
}

/** Maps scopes to integer keys. */
class TaskOwnerScopeTable {
  readonly #sql: SqlStatements;
  #cachedKeys = createKeyCache();
  /** The most recent scope and its key, because consecutive appends often have the same caller. */
  #recent: { readonly scope: TaskScope; readonly key: number } | undefined;

  constructor(sql: SqlStatements) {
    this.#sql = sql;
  }

  /** Returns the key of a scope, or `undefined` if the database has no key for the scope. */
  findKey(scope: TaskScope): number | undefined {
    const recent = this.#recent;
    if (recent && isSameScope(recent.scope, scope)) return recent.key;
    const name = getScopeKey(scope);
    const cached = this.#cachedKeys.get(name);
    if (cached !== undefined) {
      this.#recent = { scope, key: cached };
      return cached;
    }
    const row = this.#sql.get<{ key: number }>(
      "SELECT key FROM scope WHERE tenant = ? AND principal = ? AND agent = ?",
      scope.tenant,
      scope.principal,
      scope.agent,
    );
    if (row) this.#cachedKeys.set(name, row.key);
    return row?.key;
  }

  /**
   * Returns the key of a scope. If the database has no key for the scope, `findOrInsertKey` inserts the
   * scope. Call `findOrInsertKey` only within a transaction.
   */
  findOrInsertKey(scope: TaskScope): number {
    const known = this.findKey(scope);
    if (known !== undefined) return known;
    const { tenant, principal, agent } = scope;
    const inserted = this.#sql.run(
      "INSERT INTO scope (tenant, principal, agent) VALUES (?, ?, ?)",
      tenant,
      principal,
      agent,
    );
    const key = Number(inserted.lastInsertRowid);
    this.#cachedKeys.set(getScopeKey(scope), key);
    return key;
  }

  /**
   * Deletes a scope that has no tasks, and returns true if the scope was deleted. Call `deleteIfUnused` only
   * within a transaction.
   */
  deleteIfUnused(key: number, scope: TaskScope): boolean {
    const { changes } = this.#sql.run(
      "DELETE FROM scope WHERE key = ? AND NOT EXISTS (SELECT 1 FROM task WHERE scope = ?)",
      key,
      key,
    );
    if (changes === 0) return false;
    this.#cachedKeys.delete(getScopeKey(scope));
    this.#recent = undefined;
    return true;
  }

  /**
   * Clears the cache. Call `clearCache` after a rollback, because cached keys may belong to rows that no
   * longer exist.
   */
  clearCache(): void {
    this.#cachedKeys = createKeyCache();
    this.#recent = undefined;
  }
}

function createKeyCache(): LruCache<number> {
  return new LruCache(10_000);
}

/** Smallest log row, in characters, that counts as large. Most of its pages change only once. */
const MIN_LARGE_ROW_SIZE = 16 * 1024;
/** A checkpoint of this many characters blocks the event loop for about 5 ms, besides the sync of the disk. */
const CHECKPOINTED_SIZE = 2 * 2 ** 20;

/**
 * Runs short checkpoints while large rows are written. The checkpoint that the store runs every 16 MB would
 * block the event loop for about 40 ms. Small rows wait for that checkpoint, because their commits change the
 * same pages repeatedly, and a later checkpoint writes each page only once.
 */
class LargeContentCheckpoints {
  readonly #db: SqlDatabase;
  #sizeSinceCheckpoint = 0;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  /** Counts a log row with `size` characters. */
  countRow(size: number): void {
    if (size >= MIN_LARGE_ROW_SIZE) this.#sizeSinceCheckpoint += size;
  }

  /** Whether enough large rows have been written for a checkpoint. */
  get isDue(): boolean {
    return this.#sizeSinceCheckpoint >= CHECKPOINTED_SIZE;
  }

  /** Runs a checkpoint. Call `run` only outside of a transaction. */
  run(): void {
    this.#sizeSinceCheckpoint = 0;
    try {
      this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // After a failed checkpoint, the content remains in the write-ahead log, and a later checkpoint copies it.
    }
  }
}
