import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type {
  LogAppend,
  AppendRefusal,
  ClaimedTask,
  FinishedStep,
  StoreHealth,
  StoreMigrationListener,
  StoredTask,
  TaskLeases,
  TaskOverview,
  TaskListPage,
  TaskListQuery,
  PushStore,
  TaskDeletionStore,
  TaskScope,
  TaskStore,
  UnfinishedTask,
} from "../../engine/index.ts";
import { defineOptionNames } from "../../usage-checks/index.ts";
import { A2AError, type LogEvent } from "../../protocol/index.ts";
import { adoptTasksOfEarlierIds } from "./adopt-tasks-of-earlier-ids.ts";
import { getScopeKey } from "../task-owner-scope-key.ts";
import {
  findStoreStateAfterError,
  isLockedDatabaseError,
  isSqliteError,
  toUnavailableError,
} from "./sqlite-error-conversion.ts";
import { openSqliteFile, type OpenedSqliteFile } from "./sqlite-file.ts";
import { checkpointOnceUnread } from "./checkpoint-once-unread.ts";
import { GroupedPushWrites, type PushWriteGroup } from "./grouped-push-writes.ts";
import { StoreHealthMonitor } from "../store-health-monitor.ts";
import { PROCESS_LEASE_RENEW_INTERVAL_MS } from "../process-lease.ts";
import type { PushSecretKeysOption } from "../push-secret-cipher.ts";
import { HeldTaskLeases } from "./held-task-leases.ts";
import { createSqliteStoreComponents, type SqliteStoreComponents } from "./sqlite-store-components.ts";
import type { TaskDeleter } from "./task-deleter.ts";
import { createTaskTextIndex, indexQueuedTasks } from "./task-text-index.ts";
import { TaskTextIndexer } from "../task-text-indexer.ts";
import { commitTestWrite, rollback } from "./commit-test-write.ts";

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
 * Delays in milliseconds between the attempts to commit while another program has locked the file. A longer
 * lock changes the state of the store to `failing`.
 */
const LOCK_RETRY_DELAYS_MS = [1, 2, 5, 10, 20, 50, 100, 150];

/**
 * Stores tasks in the SQLite file at `path` and creates the file if necessary. Data that `commit` has
 * acknowledged survives a killed process and a power failure. Reads return only acknowledged data. `open`
 * rejects if another process has locked the file. If the disk fails, `commit` rejects with `UNAVAILABLE`
 * and discards the entire batch, unless the disk failed to sync. After a failed sync, the store opens its
 * file again, and the reopened file decides which of the unacknowledged appends are stored. Until then, the
 * store reads only tasks that no unacknowledged append has changed. `open` migrates a file of an earlier
 * version of Colloquy, and rejects a file of a newer version.
 */
export class SqliteStore implements TaskStore {
  readonly name: string;
  readonly usesSnapshots = true;
  readonly isDurable = true;
  readonly filePath: string;
  readonly pushStore: PushStore = {
    put: async (scope, taskId, registration) =>
      this.#pushWrites.write((push) => push.put(scope, taskId, registration)),
    get: async (scope, taskId, id) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.get(scope, taskId, id)),
    list: async (scope, taskId) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.list(scope, taskId)),
    remove: async (scope, taskId, id) => this.#pushWrites.write((push) => push.remove(scope, taskId, id)),
    listDueWebhooks: async (after, limit) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.listDueWebhooks(after, limit)),
    saveProgress: async (progress) => this.#pushWrites.write((push) => push.saveProgress(progress)),
    countUndelivered: async (scope, limit) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.countUndelivered(scope, limit)),
    listDeadWebhooks: async (limit) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.listDeadWebhooks(limit)),
  };
  readonly overview: TaskOverview = this.#createOverview();
  readonly leases: TaskLeases = {
    renewIntervalMs: PROCESS_LEASE_RENEW_INTERVAL_MS,
    claim: async (agent, limit) => this.#claimTasks(agent, limit),
    renew: async () => [],
    release: async (lease) => this.#heldLeases.release(lease),
  };
  readonly #heldLeases = new HeldTaskLeases();
  readonly deletionStore: TaskDeletionStore = {
    listStoppedTasks: async (query) =>
      this.#readThenAwaitDurability(({ deleter }) => deleter.listStoppedTasks(query)),
    findMatchingTasks: async (selector, limit) =>
      this.#readThenAwaitDurability(({ deleter }) => deleter.findMatchingTasks(selector, limit)),
    deleteEvents: async (tasks, options) =>
      this.#delete((deleter) => deleter.deleteEvents(tasks, options), options.overwrite),
    deleteTasks: async (tasks, options) =>
      this.#delete((deleter) => deleter.deleteTasks(tasks, options), options.overwrite),
    deleteRemnants: async (options) =>
      this.#delete((deleter) => deleter.deleteRemnants(options), options.overwrite),
    measureSize: async () => this.#requireOpen().deleter.measureSize(),
    returnFreeSpace: async (options) => this.#delete((deleter) => deleter.returnFreeSpace(options)),
    flushDeletions: async () => {
      const { file } = this.#requireOpen();
      await this.#syncCommitsToDisk(file);
      // The checkpoint removes the deleted content from the write-ahead log.
      await checkpointOnceUnread(file);
    },
  };
  readonly #path: string;
  readonly #options: SqliteStoreOptions;
  readonly #health: StoreHealthMonitor;
  #file: OpenedSqliteFile | undefined;
  #openDatabase: SqliteStoreComponents | undefined;
  /** Present if the store searches text. */
  #textIndexer: TaskTextIndexer | undefined;
  readonly #pushWrites = new GroupedPushWrites(() => this.commit([], { agentsAtWork: true }));
  readonly #runningFlushes = new Set<Promise<void>>();
  /** Batches whose commit or sync is not complete. */
  readonly #unsyncedBatches = new Set<readonly LogAppend[]>();
  /** Keys of the tasks with appends that a disk failure has left in doubt. */
  readonly #tasksInDoubt = new Set<string>();

  constructor(path: string, options: SqliteStoreOptions = {}) {
    assertKnownOptions(options);
    this.#options = options;
    this.#path = path;
    this.filePath = resolve(path);
    this.name = `sqlite:${path}`;
    this.#health = new StoreHealthMonitor(this.name, () => this.#recover());
  }

  get health(): StoreHealth {
    return this.#health;
  }

  async open(onMigration?: StoreMigrationListener): Promise<void> {
    if (this.#file) return;
    const { backupBeforeMigration: backUp = true, pushSecretKeys } = this.#options;
    const file = await openSqliteFile(this.#path, { store: this.name, backUp, onMigration, pushSecretKeys });
    try {
      this.#openDatabase = createSqliteStoreComponents(file, this.#heldLeases);
      this.#file = file;
      this.#tasksInDoubt.clear();
    } catch (error) {
      file.close();
      throw toUnavailableError(error);
    }
  }

  async adoptTasksOfEarlierIds(currentIdsByEarlierId: ReadonlyMap<string, string>): Promise<void> {
    this.runTransaction((db) => adoptTasksOfEarlierIds(db, currentIdsByEarlierId));
    this.#requireOpen().scopeTable.clearCache();
  }

  async close(): Promise<void> {
    const file = this.#file;
    const textIndexer = this.#textIndexer;
    this.#textIndexer = undefined;
    this.#file = this.#openDatabase = undefined;
    this.#heldLeases.clear();
    this.#health.reset();
    await textIndexer?.stop();
    await this.#waitForFlushes();
    file?.close();
  }

  /**
   * Returns the store's connection, so that an application can use additional tables in the same file. The
   * connection is valid until the store is closed, or until the store opens its file again after a failed
   * sync. Write to the additional tables only within `runTransaction`. The table names `scope`, `task`, `log`,
   * `snapshot`, `message`, `push`, `turn`, `queued_turn`, `finished_step`, `deleted_task`, `task_count`, and names that
   * begin with `task_text` are reserved.
   */
  getDatabase(): DatabaseSync {
    this.#requireWritable();
    return this.#requireFile().db;
  }

  /**
   * Runs `work`, which must be synchronous, as one durable transaction. If `work` throws an error, the
   * transaction is rolled back. If another program has locked the file, `runTransaction` throws `UNAVAILABLE`.
   */
  runTransaction<T>(work: (db: DatabaseSync) => T): T {
    return this.#executeDurably(work);
  }

  /**
   * Rebuilds the entire file without free space. The call blocks the event loop until the file is rebuilt, so
   * use it only while no server uses the store. Files of earlier versions can then also shrink in use.
   */
  rebuildFile(): void {
    const { file } = this.#requireOpen();
    try {
      file.db.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
    } catch (error) {
      throw toUnavailableError(error);
    }
  }

  async commit(
    batch: readonly LogAppend[],
    { agentsAtWork = false }: { readonly agentsAtWork?: boolean } = {},
  ): Promise<readonly (AppendRefusal | undefined)[]> {
    const pushWrites = this.#pushWrites.takeGroup();
    this.#unsyncedBatches.add(batch);
    this.#heldLeases.holdBegunTurns(batch);
    try {
      const { refusals, sync } = await this.#retryWhileLocked(() => {
        const write = (): (AppendRefusal | undefined)[] => this.#writeBatch(batch, pushWrites);
        if (!agentsAtWork) return { refusals: this.#executeDurably(write) };
        const result = this.#executeTransaction(write);
        // The sync starts in the same turn of the event loop, so that every reader of the batch waits for it.
        return { refusals: result, sync: this.#syncCommitsToDisk(this.#requireFile()) };
      });
      await sync;
      // The write-ahead log is on the disk now, so that a checkpoint waits only for the database file.
      this.#openDatabase?.checkpoints.runIfDue();
      this.#health.reportSuccess();
      this.#heldLeases.releaseEndedTurns(batch.filter((_, at) => refusals[at] === undefined));
      pushWrites.resolve();
      this.#textIndexer?.schedule();
      return refusals;
    } catch (error) {
      // The events of a task can make the batch fail, so the changes of webhooks are committed again alone.
      if (batch.length > 0) this.#pushWrites.putBack(pushWrites);
      else pushWrites.reject(error);
      throw error;
    } finally {
      this.#unsyncedBatches.delete(batch);
    }
  }

  #writeBatch(batch: readonly LogAppend[], pushWrites: PushWriteGroup): (AppendRefusal | undefined)[] {
    const { writer, pushTable } = this.#requireOpen();
    pushWrites.run(pushTable);
    return batch.map((append) => writer.append(append));
  }

  /**
   * Resolves with the result of `work`. While another program has locked the file, `work` is repeated for a
   * short time. SQLite does not wait for the lock, because SQLite would block the event loop.
   */
  async #retryWhileLocked<T>(work: () => T): Promise<T> {
    // A lock that has already made the store fail does not delay further commits.
    const delaysMs = this.#health.state === "healthy" ? LOCK_RETRY_DELAYS_MS : [];
    for (let attempt = 0; ; attempt++) {
      try {
        return work();
      } catch (error) {
        const delayMs = isLockedDatabaseError(error) ? delaysMs[attempt] : undefined;
        if (delayMs === undefined) throw this.#reportFailure(error);
        await pause(delayMs);
      }
    }
  }

  /** Runs a transaction and syncs the disk in the event loop. */
  #executeDurably<T>(work: (db: DatabaseSync) => T): T {
    const result = this.#executeTransaction(work);
    const file = this.#requireFile();
    try {
      file.flushSync();
    } catch (error) {
      throw this.#recordSyncFailure(error);
    }
    return result;
  }

  #executeTransaction<T>(work: (db: DatabaseSync) => T): T {
    const db = this.getDatabase();
    const { scopeTable, taskCounts, writer } = this.#requireOpen();
    try {
      db.exec("BEGIN IMMEDIATE");
      const result = work(db);
      taskCounts.writeChanges();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      rollback(db);
      taskCounts.discardChanges();
      writer.clearCache();
      scopeTable.clearCache();
      // A lock is no failure of the store before `#retryWhileLocked` has waited for its end.
      throw isLockedDatabaseError(error) ? toUnavailableError(error) : this.#reportFailure(error);
    }
  }

  async #syncCommitsToDisk(file: OpenedSqliteFile): Promise<void> {
    const open = this.#requireWritable();
    const flush = file.flush();
    this.#runningFlushes.add(flush);
    try {
      await flush;
    } catch (error) {
      throw this.#recordSyncFailure(error, open);
    } finally {
      this.#runningFlushes.delete(flush);
    }
    // The operating system reports a sync failure only once, so other syncs that were pending cannot be
    // trusted.
    if (open.diskFailure) throw open.diskFailure;
  }

  #recordSyncFailure(error: unknown, open = this.#openDatabase): A2AError {
    const failure = toUnavailableError(
      error,
      "The task store failed to sync its disk and opens its file again",
    );
    this.#recordDiskFailure(failure, open);
    return failure;
  }

  /** Stops commits until the file is open again, and marks the tasks of all unsynced appends. */
  #recordDiskFailure(failure: A2AError, open: SqliteStoreComponents | undefined): void {
    // A failure of a former connection does not concern the current connection.
    if (!open || open !== this.#openDatabase) return;
    open.diskFailure ??= failure;
    for (const batch of this.#unsyncedBatches)
      for (const { scope, taskId } of batch) this.#tasksInDoubt.add(getTaskKey(scope, taskId));
    this.#health.reportFailure("failed", failure);
  }

  /** Reports an error that concerns the file or the disk, and returns the error for the caller. */
  #reportFailure(error: unknown): unknown {
    const state = findStoreStateAfterError(error);
    const failure = isSqliteError(error) ? toUnavailableError(error) : error;
    if (!(failure instanceof A2AError) || state === undefined) return failure;
    if (state === "failed") this.#recordDiskFailure(failure, this.#openDatabase);
    else if (this.#openDatabase && !this.#openDatabase.diskFailure)
      this.#health.reportFailure(state, failure);
    return failure;
  }

  /** Resolves once a commit has succeeded. After a disk failure, the store also opens its file again. */
  async #recover(): Promise<void> {
    const file = this.#requireFile();
    try {
      // While the disk fails, the old connection remains open for readers.
      if (this.#openDatabase) {
        commitTestWrite(file.db);
        const flush = file.flush();
        this.#runningFlushes.add(flush);
        await flush.finally(() => this.#runningFlushes.delete(flush));
        await this.#waitForFlushes();
      }
      if (this.#file === file && (!this.#openDatabase || this.#openDatabase.diskFailure)) this.#reopen(file);
    } catch (error) {
      throw this.#reportFailure(error);
    }
  }

  #reopen(file: OpenedSqliteFile): void {
    const diskFailure = this.#openDatabase?.diskFailure;
    this.#openDatabase = undefined;
    file.reconnect();
    this.#openDatabase = {
      ...createSqliteStoreComponents(file, this.#heldLeases),
      ...(diskFailure ? { diskFailure } : {}),
    };
    if (!file.checkpointEntireWal()) throw new Error("another program is using the file; stop that program");
    delete this.#openDatabase.diskFailure;
    this.#tasksInDoubt.clear();
  }

  async #waitForFlushes(): Promise<void> {
    await Promise.allSettled(this.#runningFlushes);
  }

  async load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    return this.#readThenAwaitDurability(
      ({ reader }) => reader.load(scope, taskId),
      () => this.#isInDoubt(scope, taskId),
    );
  }

  async isTaskUnchanged(
    scope: TaskScope,
    taskId: string,
    loaded: Pick<StoredTask, "seq" | "epoch">,
  ): Promise<boolean> {
    return this.#readThenAwaitDurability(
      ({ reader }) => reader.isTaskUnchanged(scope, taskId, loaded),
      () => this.#isInDoubt(scope, taskId),
    );
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#readThenAwaitDurability(
      ({ reader }) => reader.readEvents(scope, taskId, after, limit),
      () => this.#isInDoubt(scope, taskId),
    );
  }

  async list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    return this.#readThenAwaitDurability(
      ({ listReader }) => listReader.list(scope, query),
      ({ tasks }) => tasks.some(({ id }) => this.#isInDoubt(scope, id)),
    );
  }

  async findMessage(
    scope: TaskScope,
    messageId: string,
  ): Promise<{ taskId: string; seq: number } | undefined> {
    try {
      const found = this.#requireOpen().reader.findMessageLocation(scope, messageId);
      // The lookup runs for every message and usually finds nothing, so only a result waits for the disk.
      if (!found) return undefined;
    } catch (error) {
      throw this.#reportFailure(error);
    }
    return this.#readThenAwaitDurability(
      ({ reader }) => reader.findMessageLocation(scope, messageId),
      (found) => found !== undefined && this.#isInDoubt(scope, found.taskId),
    );
  }

  async readSteps(scope: TaskScope, taskId: string, turnSeq: number): Promise<readonly FinishedStep[]> {
    return this.#readThenAwaitDurability(
      ({ reader }) => reader.readSteps(scope, taskId, turnSeq),
      () => this.#isInDoubt(scope, taskId),
    );
  }

  async listUnfinished(): Promise<UnfinishedTask[]> {
    return this.#readThenAwaitDurability(({ reader }) => reader.listUnfinished());
  }

  async listTasksWithQueuedTurns(): Promise<{ scope: TaskScope; taskId: string }[]> {
    return this.#readThenAwaitDurability(({ reader }) => reader.listTasksWithQueuedTurns());
  }

  /**
   * Runs a query, and returns the result once all data that the query has read is durable. After a disk
   * failure, rejects if `isInDoubt` returns true for the result.
   */
  async #readThenAwaitDurability<T>(
    query: (open: SqliteStoreComponents) => T,
    isInDoubt: (result: T) => boolean = () => true,
  ): Promise<T> {
    const open = this.#requireOpen();
    try {
      const result = query(open);
      if (this.#runningFlushes.size > 0) await this.#waitForFlushes();
      if (open.diskFailure && isInDoubt(result)) throw open.diskFailure;
      return result;
    } catch (error) {
      throw this.#reportFailure(error);
    }
  }

  #isInDoubt(scope: TaskScope, taskId: string): boolean {
    return this.#tasksInDoubt.has(getTaskKey(scope, taskId));
  }

  #createOverview(): TaskOverview {
    const isTextIndexed = (): boolean => this.#textIndexer !== undefined;
    return {
      get searchesText() {
        return isTextIndexed();
      },
      startTextIndex: async () => this.#startTextIndex(),
      prepareForAllCallers: async () =>
        this.runTransaction(() => this.#requireOpen().overviewReader.createIndexForAllCallers()),
      list: async (query) =>
        this.#readThenAwaitDurability(
          ({ overviewReader }) => overviewReader.list(query),
          ({ tasks }) => tasks.some(({ scope, taskId }) => this.#isInDoubt(scope, taskId)),
        ),
      findScope: async (agent, taskId) =>
        this.#readThenAwaitDurability(({ overviewReader }) => overviewReader.findScope(agent, taskId)),
    };
  }

  #startTextIndex(): void {
    if (this.#textIndexer) return;
    this.runTransaction((db) => createTaskTextIndex(db));
    this.#textIndexer = new TaskTextIndexer({
      // A power failure restores the queue together with the index, so that the batch needs no sync.
      indexBatch: (limit) =>
        this.#executeTransaction((db) =>
          indexQueuedTasks(db, limit, (key) => this.#requireOpen().reader.foldTask({ key })),
        ),
    });
    this.#textIndexer.schedule();
  }

  #claimTasks(agent: string, limit: number): ClaimedTask[] {
    const { leaseTable } = this.#requireOpen();
    const keys = leaseTable.listClaimableKeys(agent, limit);
    if (keys.length === 0) return [];
    const claimed = this.runTransaction(() => leaseTable.claimTasks(keys));
    for (const lease of claimed) this.#heldLeases.hold(lease);
    return claimed;
  }

  #requireFile(): OpenedSqliteFile {
    if (this.#file) return this.#file;
    throw new A2AError("UNAVAILABLE", "The task store is closed; open it first.");
  }

  /**
   * Runs a deletion in a transaction that is not synced. After a power failure, deleted data may exist again,
   * until the next sweep deletes the data. `flushDeletions` makes deletions durable.
   */
  #delete<T>(work: (deleter: TaskDeleter) => T, overwrite = false): Promise<T> {
    return this.#retryWhileLocked(() => this.#executeDeletion(work, overwrite));
  }

  #executeDeletion<T>(work: (deleter: TaskDeleter) => T, overwrite: boolean): T {
    const { deleter } = this.#requireWritable();
    if (overwrite) deleter.setOverwrite(true);
    deleter.setCheckpointInterval("deleting");
    try {
      return this.#executeTransaction(() => work(deleter));
    } finally {
      deleter.setCheckpointInterval("committing");
      if (overwrite) deleter.setOverwrite(false);
    }
  }

  #requireOpen(): SqliteStoreComponents {
    this.#requireFile();
    if (this.#openDatabase) return this.#openDatabase;
    throw toUnavailableError(new Error("its file cannot be opened"));
  }

  #requireWritable(): SqliteStoreComponents {
    const open = this.#requireOpen();
    if (open.diskFailure) throw open.diskFailure;
    return open;
  }
}

function getTaskKey(scope: TaskScope, taskId: string): string {
  return `${taskId} ${getScopeKey(scope)}`;
}
