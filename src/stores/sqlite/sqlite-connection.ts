import { setTimeout as pause } from "node:timers/promises";
import type { LogAppend, StoreMigrationListener, TaskScope } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { PushSecretKeysOption } from "../push-secret-cipher.ts";
import { StoreHealthMonitor, type UnhealthyStoreState } from "../store-health-monitor.ts";
import { getTaskKey } from "../task-owner-scope-key.ts";
import { FileLossWatch } from "./file-loss-watch.ts";
import {
  findStoreStateAfterError,
  isLockedDatabaseError,
  isSqliteError,
  toUnavailableError,
} from "./sqlite-error-conversion.ts";
import { openSqliteFile, type OpenedSqliteFile } from "./sqlite-file.ts";
import { TaskTables } from "./task-tables.ts";
import type { DatabaseSync } from "node:sqlite";

/**
 * Delays in milliseconds between the attempts to commit while another program has locked the file. A longer
 * lock changes the state of the store to `failing`.
 */
const LOCK_RETRY_DELAYS_MS = [1, 2, 5, 10, 20, 50, 100, 150];

/** The tables of the current connection. */
interface OpenDatabase {
  readonly tables: TaskTables;
  /** Set after a failed sync or an I/O error. The connection then commits no more data. */
  diskFailure?: A2AError;
}

/**
 * The connection of a store to its file. The connection runs transactions, syncs the disk, and delays the result of a
 * query until all data that the query has read is durable. After a failed sync, the connection opens its file again,
 * because only the reopened file decides which of the unacknowledged appends are stored.
 */
export class SqliteConnection {
  readonly health: StoreHealthMonitor;
  /** Batches whose commit or sync is not complete. */
  readonly unsyncedBatches: Set<readonly LogAppend[]> = new Set();
  readonly #path: string;
  readonly #name: string;
  #file: OpenedSqliteFile | undefined;
  #lossWatch: FileLossWatch | undefined;
  #openDatabase: OpenDatabase | undefined;
  readonly #runningFlushes = new Set<Promise<void>>();
  /** Keys of the tasks with appends that a disk failure has left in doubt. */
  readonly #tasksInDoubt = new Set<string>();

  /** `name` is the name of the store in error messages. */
  constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
    this.health = new StoreHealthMonitor(name, () => this.#recover());
  }

  async open(
    options: { readonly backUp: boolean; readonly pushSecretKeys: PushSecretKeysOption | undefined },
    onMigration: StoreMigrationListener | undefined,
  ): Promise<void> {
    if (this.#file) return;
    const file = await openSqliteFile(this.#path, { store: this.#name, ...options, onMigration });
    try {
      this.#openDatabase = { tables: createTables(file) };
      this.#file = file;
      this.#tasksInDoubt.clear();
      this.#lossWatch = this.#watchForLoss(file);
      // The process before this one may have been killed during a checkpoint. Until a checkpoint completes, an
      // inspection cannot tell the changes of that checkpoint from the changes of other programs.
      this.#lossWatch.runCheckpoint();
    } catch (error) {
      file.close();
      throw toUnavailableError(error);
    }
  }

  /** Prevents all further access to the file. The returned function waits for running syncs, and then closes the file. */
  prepareClose(): () => Promise<void> {
    const file = this.#file;
    this.#lossWatch?.stop();
    this.#lossWatch = undefined;
    this.#file = this.#openDatabase = undefined;
    this.health.reset();
    return async () => {
      await this.#waitForFlushes();
      file?.close();
    };
  }

  /** Remembers the stored appends of a batch until the next inspection of the files. */
  recordAcknowledged(batch: readonly LogAppend[], refusals: readonly unknown[]): void {
    for (const [at, append] of batch.entries())
      if (refusals[at] === undefined) this.#lossWatch?.recordAcknowledged(append);
  }

  #watchForLoss(file: OpenedSqliteFile): FileLossWatch {
    return new FileLossWatch({
      file: file.path,
      inspect: () => file.findLoss(),
      isLogLarge: () => file.isLogLarge,
      // After a failed sync, only `#reopen` runs a checkpoint.
      checkpoint: () => {
        if (!this.#openDatabase?.diskFailure) this.#openDatabase?.tables.checkpoints.run();
      },
      saveLog: () => file.checkpointEntireWal(),
      onLoss: (loss, error) => {
        if (loss.kind === "damaged") file.setDamagedFilesAside();
        const failure = toUnavailableError(new Error("its file is lost"));
        this.#recordDiskFailure(failure, this.#openDatabase, "lost", error);
      },
    });
  }

  requireFile(): OpenedSqliteFile {
    if (this.#file) return this.#file;
    throw new A2AError("UNAVAILABLE", "The task store is closed; open it first.");
  }

  /** Returns the tables for queries. */
  requireOpen(): TaskTables {
    return this.#requireDatabase().tables;
  }

  /** Returns the tables for transactions. */
  requireWritable(): TaskTables {
    const { tables, diskFailure } = this.#requireDatabase();
    if (diskFailure) throw diskFailure;
    return tables;
  }

  #requireDatabase(): OpenDatabase {
    this.requireFile();
    if (this.#openDatabase) return this.#openDatabase;
    throw toUnavailableError(new Error("its file cannot be opened"));
  }

  /**
   * Resolves with the result of `work`. While another program has locked the file, `work` is repeated for a
   * short time. SQLite does not wait for the lock, because SQLite would block the event loop.
   */
  async retryWhileLocked<T>(work: () => T): Promise<T> {
    // A lock that has already made the store fail does not delay further commits.
    const delaysMs = this.health.state === "healthy" ? LOCK_RETRY_DELAYS_MS : [];
    for (let attempt = 0; ; attempt++) {
      try {
        return work();
      } catch (error) {
        const delayMs = isLockedDatabaseError(error) ? delaysMs[attempt] : undefined;
        if (delayMs === undefined) throw this.reportFailure(error);
        await pause(delayMs);
      }
    }
  }

  /** Runs a transaction and syncs the disk in the event loop. */
  executeDurably<T>(work: (tables: TaskTables) => T): T {
    const result = this.executeTransaction(work);
    const file = this.requireFile();
    try {
      file.flushSync();
    } catch (error) {
      throw this.#recordSyncFailure(error);
    }
    return result;
  }

  executeTransaction<T>(work: (tables: TaskTables) => T): T {
    const tables = this.requireWritable();
    try {
      tables.sql.run("BEGIN IMMEDIATE");
      const result = work(tables);
      tables.counts.writeChanges();
      tables.sql.run("COMMIT");
      return result;
    } catch (error) {
      rollback(this.requireFile().db);
      tables.discardChanges();
      // A lock is no failure of the store before `retryWhileLocked` has waited for its end.
      throw isLockedDatabaseError(error) ? toUnavailableError(error) : this.reportFailure(error);
    }
  }

  /** Copies the write-ahead log into the file if the log is large. The log must be on the disk. */
  runDueCheckpoint(): void {
    if (this.#openDatabase?.tables.checkpoints.isDue) this.#lossWatch?.runCheckpoint();
  }

  async syncCommitsToDisk(file: OpenedSqliteFile): Promise<void> {
    this.requireWritable();
    const open = this.#openDatabase;
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
    if (open?.diskFailure) throw open.diskFailure;
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
  #recordDiskFailure(
    failure: A2AError,
    open: OpenDatabase | undefined,
    state: "failed" | "lost" = "failed",
    reported: Error = failure,
  ): void {
    // A failure of a former connection does not concern the current connection.
    if (!open || open !== this.#openDatabase) return;
    open.diskFailure ??= failure;
    for (const batch of this.unsyncedBatches)
      for (const { scope, taskId } of batch) this.#tasksInDoubt.add(getTaskKey(scope, taskId));
    this.#reportState(state, reported);
  }

  /** A lost store stays lost, although its requests fail in other ways. */
  #reportState(state: UnhealthyStoreState, error: Error): void {
    this.health.reportFailure(this.#lossWatch?.isLost ? "lost" : state, error);
  }

  /** Reports an error that concerns the file or the disk, and returns the error for the caller. */
  reportFailure(error: unknown): unknown {
    const state = findStoreStateAfterError(error);
    const failure = isSqliteError(error) ? toUnavailableError(error) : error;
    if (!(failure instanceof A2AError) || state === undefined) return failure;
    if (state === "failed") this.#recordDiskFailure(failure, this.#openDatabase);
    else if (this.#openDatabase && !this.#openDatabase.diskFailure) this.#reportState(state, failure);
    return failure;
  }

  /** Resolves once a commit has succeeded. After a disk failure, the store also opens its file again. */
  async #recover(): Promise<void> {
    const file = this.requireFile();
    this.#assertRestored();
    try {
      // While the disk fails, the old connection remains open for readers.
      if (this.#openDatabase) {
        commitTestWrite(file.db);
        const flush = file.flush();
        this.#runningFlushes.add(flush);
        await flush.finally(() => this.#runningFlushes.delete(flush));
        await this.#waitForFlushes();
      }
      this.#assertRestored();
      if (this.#file === file && (!this.#openDatabase || this.#openDatabase.diskFailure)) this.#reopen(file);
    } catch (error) {
      throw this.reportFailure(error);
    }
  }

  /** Throws an error if the file is lost. The connection must not be closed, because only it can read a removed file. */
  #assertRestored(): void {
    this.#lossWatch?.inspect();
    if (this.#lossWatch && !this.#lossWatch.tryRestore()) throw new Error("The file is lost.");
  }

  #reopen(file: OpenedSqliteFile): void {
    const diskFailure = this.#openDatabase?.diskFailure;
    this.#openDatabase = undefined;
    file.reconnect();
    this.#openDatabase = { tables: createTables(file), ...(diskFailure ? { diskFailure } : {}) };
    if (!file.checkpointEntireWal()) throw new Error("another program is using the file; stop that program");
    delete this.#openDatabase.diskFailure;
    this.#tasksInDoubt.clear();
  }

  async #waitForFlushes(): Promise<void> {
    await Promise.allSettled(this.#runningFlushes);
  }

  /**
   * Runs a query, and returns the result once all data that the query has read is durable. After a disk
   * failure, rejects if `isInDoubt` returns true for the result.
   */
  async readThenAwaitDurability<T>(
    query: (tables: TaskTables) => T,
    isInDoubt: (result: T) => boolean = () => true,
  ): Promise<T> {
    const open = this.#requireDatabase();
    try {
      const result = query(open.tables);
      if (this.#runningFlushes.size > 0) await this.#waitForFlushes();
      if (open.diskFailure && isInDoubt(result)) throw open.diskFailure;
      return result;
    } catch (error) {
      throw this.reportFailure(error);
    }
  }

  isInDoubt(scope: TaskScope, taskId: string): boolean {
    return this.#tasksInDoubt.has(getTaskKey(scope, taskId));
  }
}

function createTables({ db, pushSecretCipher: cipher }: OpenedSqliteFile): TaskTables {
  return new TaskTables(db, { cipher });
}

/** Commits one page without changing any data. Throws an error if the database cannot be written. */
function commitTestWrite(db: DatabaseSync): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  try {
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${version}; COMMIT`);
  } catch (error) {
    rollback(db);
    throw error;
  }
}

/** Ends the transaction without changes. */
export function rollback(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has already ended the transaction, as it does when the disk is full.
  }
}
