import { LruCache } from "../../base/data-structures/index.ts";
import type { TaskScope } from "../../engine/index.ts";
import type { TaskState } from "../../protocol/index.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { LargeContentCheckpoints } from "./large-content-checkpoints.ts";
import { SqlStatements, type SqlDatabase } from "./sql-database.ts";
import { TaskCountTable } from "./task-count-table.ts";
import { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";

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
