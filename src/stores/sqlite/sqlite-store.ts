import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type {
  LogAppend,
  AppendRefusal,
  StoreHealth,
  StoreMigrationListener,
  StoredTask,
  TurnStore,
  TaskListPage,
  TaskListQuery,
  TaskScope,
  TaskStore,
  SessionRepository,
} from "../../engine/index.ts";
import type { PushStore } from "../../webhooks/index.ts";
import type { TaskDeletionStore } from "../task-deletion-store.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { type LogEvent, A2AError } from "../../protocol/index.ts";
import { toUnavailableError, findStoreStateAfterError, isSqliteError } from "./sqlite-error-conversion.ts";
import { SqliteSessions } from "./sqlite-sessions.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import type { TaskTextIndexer } from "../task-text-indexer.ts";
import { backupOpenDatabase } from "./shared-file-operations.ts";
import type { PushSecretKeysOption } from "../push-secret-cipher.ts";
import { HeldTaskLeases } from "./held-task-leases.ts";
import { createSqlTextIndex } from "./task-text-index.ts";
import { createSqlPushStore } from "./push-table.ts";
import { createSqlTurnStore } from "./sql-turn-store.ts";
import { createSqlTaskOverview, listTasks } from "./task-lists.ts";
import { findMessage, loadTask, readEvents } from "./task-reader.ts";
import type { SqlAccess, TaskTables } from "./task-tables.ts";
import { writeAppend } from "./task-writer.ts";
import type { ServerStore, StoreFile, TaskOverview } from "../server-store.ts";
import { setTimeout as pause } from "node:timers/promises";
import { measureDatabaseSize, readPragma } from "./database-size.ts";
import type { SqlDatabase } from "./sql-database.ts";
import type { OpenedSqliteFile } from "./sqlite-file.ts";
import { createSqlDeletionStore } from "./task-deletion.ts";
import { COMMIT_CHECKPOINT_PAGES } from "./wal-checkpoint-pages.ts";

/** Options of `SqliteStore`. */
export interface SqliteStoreOptions {
  /**
   * Whether `open` copies a file of an earlier version of Colloquy before its migration, to
   * `<file>.schema-<version>.bak`. Default: true.
   */
  readonly backupBeforeMigration?: boolean;
  /**
   * Keys that encrypt the tokens and credentials of push configurations in the file, each with 32 bytes in base64, or a
   * function that returns the keys. The first key encrypts, and all keys decrypt. To rotate the key, add a new first
   * key. Default: the keys in the file `<file>.key`, which `open` creates.
   */
  readonly pushSecretKeys?: PushSecretKeysOption;
}

const assertKnownOptions = defineOptionNames<SqliteStoreOptions>()(
  "SqliteStore",
  "backupBeforeMigration pushSecretKeys",
);

/**
 * Stores tasks in the SQLite file at `path` and creates the file if necessary. Data that `commit` has
 * acknowledged survives a killed process and a power failure. Reads return only acknowledged data. `open`
 * rejects if another process has locked the file. If the disk fails, `commit` rejects with `UNAVAILABLE`
 * and discards the entire batch, unless the disk failed to sync. After a failed sync, the store opens its
 * file again, and the reopened file decides which of the unacknowledged appends are stored. Until then, the
 * store reads only tasks that no unacknowledged append has changed. `open` migrates a file of an earlier
 * version of Colloquy, and rejects a file of a newer version.
 */
export class SqliteStore implements ServerStore {
  readonly name: string;
  readonly usesSnapshots = true;
  readonly isDurable = true;
  readonly file: StoreFile;
  readonly turns: TurnStore;
  readonly pushStore: PushStore;
  readonly overview: TaskOverview;
  readonly deletionStore: TaskDeletionStore;
  readonly #heldLeases = new HeldTaskLeases();
  readonly #options: SqliteStoreOptions;
  readonly #sessions: SqliteSessions;
  readonly #connection: SqliteConnection;
  readonly #textIndex: TaskTextIndexer;
  readonly #pushWrites = new GroupedPushWrites(() => this.commit([], { agentsAtWork: true }));

  constructor(path: string, options: SqliteStoreOptions = {}) {
    assertKnownOptions(options);
    this.#options = options;
    this.name = `sqlite:${path}`;
    this.file = { path: resolve(path), backUp: async (target) => this.#backUp(target) };
    this.#sessions = new SqliteSessions(path);
    this.#connection = new SqliteConnection(path, this.name);
    const connection = this.#connection;
    const access: SqlAccess = {
      read: (query, isInDoubt) => connection.readThenAwaitDurability(query, isInDoubt),
      write: async (work) => connection.executeDurably(work),
      writePush: (work) => this.#pushWrites.write(work),
      isInDoubt: (scope, taskId) => connection.isInDoubt(scope, taskId),
    };
    this.turns = createSqlTurnStore(access, this.#heldLeases);
    this.pushStore = createSqlPushStore(access);
    this.#textIndex = createSqlTextIndex({
      write: access.write,
      transact: (work) => connection.executeTransaction(work),
    });
    this.overview = createSqlTaskOverview(access, this.#textIndex);
    this.deletionStore = createSqliteDeletionStore(connection);
  }

  /** Sessions of agent frameworks in the same file. The first access opens another connection, which `close` closes. */
  get sessionRepository(): SessionRepository {
    return this.#sessions.repository;
  }

  get health(): StoreHealth {
    return this.#connection.health;
  }

  async open(onMigration?: StoreMigrationListener): Promise<void> {
    const { backupBeforeMigration: backUp = true, pushSecretKeys } = this.#options;
    await this.#connection.open({ backUp, pushSecretKeys }, onMigration);
  }

  async close(): Promise<void> {
    const textIndexStop = this.#textIndex.stop();
    const closeFile = this.#connection.prepareClose();
    this.#heldLeases.clear();
    await textIndexStop;
    this.#sessions.close();
    await closeFile();
  }

  /**
   * Returns the store's connection, so that an application can use additional tables in the same file. The
   * connection is valid until the store is closed, or until the store opens its file again after a failed
   * sync. Write to the additional tables only within `runTransaction`. The table names `scope`, `task`, `log`,
   * `snapshot`, `message`, `push`, `turn`, `queued_turn`, `finished_step`, `deleted_task`, `task_count`, `sweep_clock`, and
   * names that begin with `task_text` are reserved.
   */
  getDatabase(): DatabaseSync {
    this.#connection.requireWritable();
    return this.#connection.requireFile().db;
  }

  /**
   * Runs `work`, which must be synchronous, as one durable transaction. If `work` throws an error, the
   * transaction is rolled back. If another program has locked the file, `runTransaction` throws `UNAVAILABLE`.
   */
  runTransaction<T>(work: (db: DatabaseSync) => T): T {
    return this.#connection.executeDurably(() => work(this.#connection.requireFile().db));
  }

  /**
   * Rebuilds the entire file without free space. The call blocks the event loop until the file is rebuilt, so
   * use it only while no server uses the store.
   */
  rebuildFile(): void {
    const { db } = this.#connection.requireFile();
    try {
      db.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
    } catch (error) {
      throw toUnavailableError(error);
    }
  }

  #backUp(target: string): void {
    try {
      backupOpenDatabase(this.#connection.requireFile().db, target);
    } catch (error) {
      throw toUnavailableError(error);
    }
  }

  async commit(
    batch: readonly LogAppend[],
    { agentsAtWork = false }: { readonly agentsAtWork?: boolean } = {},
  ): Promise<readonly (AppendRefusal | undefined)[]> {
    const pushWrites = this.#pushWrites.takeGroup();
    let reportPushWrites: readonly (() => void)[] = [];
    const write = (tables: TaskTables): (AppendRefusal | undefined)[] => {
      reportPushWrites = runPushWrites(tables, pushWrites);
      return batch.map((append) => writeAppend(tables, append));
    };
    this.#connection.unsyncedBatches.add(batch);
    this.#heldLeases.holdBegunTurns(batch);
    try {
      const { refusals, sync } = await this.#connection.retryWhileLocked(() => {
        if (!agentsAtWork) return { refusals: this.#connection.executeDurably(write) };
        const result = this.#connection.executeTransaction(write);
        // The sync starts in the same turn of the event loop, so that every reader of the batch waits for it.
        return { refusals: result, sync: this.#connection.syncCommitsToDisk(this.#connection.requireFile()) };
      });
      await sync;
      this.#connection.health.reportSuccess();
      this.#connection.recordAcknowledged(batch, refusals);
      // The write-ahead log is on the disk now, so that a checkpoint waits only for the database file.
      this.#connection.runDueCheckpoint();
      this.#heldLeases.releaseEndedTurns(batch.filter((_, at) => refusals[at] === undefined));
      for (const report of reportPushWrites) report();
      this.#textIndex.schedule();
      return refusals;
    } catch (error) {
      // The events of a task can make the batch fail, so the changes of webhooks are committed again alone.
      if (batch.length > 0) this.#pushWrites.putBack(pushWrites);
      else for (const { reject } of pushWrites) reject(error);
      throw error;
    } finally {
      this.#connection.unsyncedBatches.delete(batch);
    }
  }

  async load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    return this.#connection.readThenAwaitDurability(
      (tables) => loadTask(tables, scope, taskId),
      () => this.#connection.isInDoubt(scope, taskId),
    );
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#connection.readThenAwaitDurability(
      (tables) => readEvents(tables, scope, taskId, after, limit),
      () => this.#connection.isInDoubt(scope, taskId),
    );
  }

  async list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    return this.#connection.readThenAwaitDurability(
      (tables) => listTasks(tables, scope, query),
      ({ tasks }) => tasks.some(({ id }) => this.#connection.isInDoubt(scope, id)),
    );
  }

  findMessage(scope: TaskScope, messageId: string): ReturnType<TaskStore["findMessage"]> {
    try {
      const found = findMessage(this.#connection.requireOpen(), scope, messageId);
      // The lookup runs for every message and usually finds nothing, so only a result waits for the disk.
      if (!found) return undefined;
    } catch (error) {
      throw this.#connection.reportFailure(error);
    }
    return this.#connection.readThenAwaitDurability(
      (tables) => findMessage(tables, scope, messageId),
      (found) => found !== undefined && this.#connection.isInDoubt(scope, found.taskId),
    );
  }
}

/** A change of the webhooks that waits for the next commit. */
interface PendingPushWrite {
  readonly run: (tables: TaskTables) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects changes of webhooks, so that many changes share one transaction and one sync of the disk. The
 * changes are part of the next commit of the store. If the store has no commit in the current turn of the
 * event loop, the changes are committed alone.
 */
class GroupedPushWrites {
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
function runPushWrites(tables: TaskTables, writes: readonly PendingPushWrite[]): (() => void)[] {
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

const PAGES_PER_VACUUM_STATEMENT = 16;
/** Share of free pages that the store keeps for new data, and the number of pages that it always keeps. */
const KEPT_FREE_SHARE = 0.1;
const MIN_KEPT_FREE_PAGES = 256;
const AUTO_VACUUM_INCREMENTAL = 2;
/** Interval in milliseconds between the attempts to empty the write-ahead log. */
const CHECKPOINT_RETRY_INTERVAL_MS = 50;
/** Maximum time in milliseconds to wait for another program, such as a backup of a large file. */
const MAX_CHECKPOINT_WAIT_MS = 60_000;

/**
 * Creates the store of deletions. The transaction of a deletion is not synced. After a power failure, deleted data may
 * exist again, until the next sweep deletes the data. `flushDeletions` makes deletions durable.
 */
function createSqliteDeletionStore(connection: SqliteConnection): TaskDeletionStore {
  const transact = <T>(work: (tables: TaskTables) => T): Promise<T> =>
    connection.retryWhileLocked(() => connection.executeTransaction(work));
  return {
    ...createSqlDeletionStore({
      read: (query) => connection.readThenAwaitDurability(query),
      write: transact,
      remove: (work, overwrite = false) =>
        connection.retryWhileLocked(() => {
          const { db } = connection.requireWritable();
          if (overwrite) db.exec("PRAGMA secure_delete = ON");
          // While the server commits events, these commits run the checkpoints, so that a deletion does not take longer.
          db.exec(`PRAGMA wal_autocheckpoint = ${3 * COMMIT_CHECKPOINT_PAGES}`);
          try {
            return connection.executeTransaction(work);
          } finally {
            db.exec(`PRAGMA wal_autocheckpoint = ${COMMIT_CHECKPOINT_PAGES}`);
            if (overwrite) db.exec("PRAGMA secure_delete = FAST");
          }
        }),
    }),
    measureSize: async () => measureDatabaseSize(connection.requireOpen().db),
    returnFreeSpace: (options) => transact(({ db }) => returnFreeSpace(db, options)),
    flushDeletions: async () => {
      const file = connection.requireFile();
      await connection.syncCommitsToDisk(file);
      // The checkpoint removes the deleted content from the write-ahead log.
      await checkpointOnceUnread(file);
    },
  };
}

/**
 * Removes free pages from the file. Returns true if more pages can be removed. Call `returnFreeSpace` only
 * within a transaction.
 */
function returnFreeSpace(
  db: SqlDatabase,
  { budgetMs, all }: { readonly budgetMs: number; readonly all: boolean },
): boolean {
  // An application can have created the file with its own tables.
  if (readPragma(db, "auto_vacuum") !== AUTO_VACUUM_INCREMENTAL) return false;
  const pages = readPragma(db, "page_count");
  const kept = all ? 0 : Math.max(MIN_KEPT_FREE_PAGES, Math.floor(pages * KEPT_FREE_SHARE));
  const deadline = performance.now() + budgetMs;
  for (;;) {
    const surplus = readPragma(db, "freelist_count") - kept;
    if (surplus <= 0) return false;
    if (performance.now() >= deadline) return true;
    db.exec(`PRAGMA incremental_vacuum(${Math.min(surplus, PAGES_PER_VACUUM_STATEMENT)})`);
  }
}

/**
 * Empties the write-ahead log. While another program reads the file, SQLite keeps the log. Rejects with
 * `UNAVAILABLE` if the other program does not stop in time.
 */
async function checkpointOnceUnread(file: Pick<OpenedSqliteFile, "checkpointEntireWal">): Promise<void> {
  const deadline = performance.now() + MAX_CHECKPOINT_WAIT_MS;
  while (!file.checkpointEntireWal()) {
    if (performance.now() >= deadline) {
      const text =
        "The tasks are deleted, but their content remains in the write-ahead log while another program reads the file; stop that program and repeat the erasure.";
      throw new A2AError("UNAVAILABLE", text);
    }
    await pause(CHECKPOINT_RETRY_INTERVAL_MS);
  }
}
