import type { DatabaseSync } from "node:sqlite";
import type {
  LogAppend,
  AppendRefusal,
  ClaimedTask,
  StoredTask,
  TaskLeases,
  TaskListPage,
  TaskListQuery,
  PushStore,
  TaskScope,
  TaskStore,
  UnfinishedTask,
} from "../../engine/index.ts";
import { A2AError, type LogEvent } from "../../protocol/index.ts";
import { adoptTasksOfEarlierIds } from "./adopt-tasks-of-earlier-ids.ts";
import { isSqliteError, toUnavailableError } from "./sqlite-error-conversion.ts";
import { openSqliteFile, type OpenedSqliteFile } from "./sqlite-file.ts";
import { PushTable } from "./push-table.ts";
import { PROCESS_LEASE_RENEW_INTERVAL_MS } from "../process-lease.ts";
import { HeldTaskLeases } from "./held-task-leases.ts";
import { TaskLeaseTable } from "./task-lease-table.ts";
import { TaskReader } from "./task-reader.ts";
import { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";
import { TaskWriter } from "./task-writer.ts";

interface OpenStoreComponents {
  readonly file: OpenedSqliteFile;
  readonly scopeTable: TaskOwnerScopeTable;
  readonly reader: TaskReader;
  readonly writer: TaskWriter;
  readonly pushTable: PushTable;
  readonly leaseTable: TaskLeaseTable;
}

/**
 * Stores tasks in the SQLite file at `path` and creates the file if necessary. Data that `commit` has
 * acknowledged survives a killed process and a power failure. Reads return only acknowledged data. `open`
 * rejects if another process has locked the file. If the disk fails, `commit` rejects with `UNAVAILABLE`
 * and discards the entire batch. After a failed sync, the state of the disk is unknown, so the store
 * rejects every operation until the store is opened again.
 */
export class SqliteStore implements TaskStore {
  readonly name: string;
  readonly usesSnapshots = true;
  readonly isDurable = true;
  readonly pushStore: PushStore = {
    put: async (scope, taskId, registration) =>
      this.#writePush((push) => push.put(scope, taskId, registration)),
    get: async (scope, taskId, id) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.get(scope, taskId, id)),
    list: async (scope, taskId) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.list(scope, taskId)),
    remove: async (scope, taskId, id) => this.#writePush((push) => push.remove(scope, taskId, id)),
    listDueWebhooks: async (after, limit) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.listDueWebhooks(after, limit)),
    saveProgress: async (progress) => this.#writePush((push) => push.saveProgress(progress)),
    listDeadWebhooks: async (limit) =>
      this.#readThenAwaitDurability(({ pushTable }) => pushTable.listDeadWebhooks(limit)),
  };
  readonly leases: TaskLeases = {
    renewIntervalMs: PROCESS_LEASE_RENEW_INTERVAL_MS,
    claim: async (agent, limit) => this.#claimTasks(agent, limit),
    renew: async () => [],
    release: async (lease) => this.#heldLeases.release(lease),
  };
  readonly #heldLeases = new HeldTaskLeases();
  readonly #path: string;
  #openDatabase: OpenStoreComponents | undefined;
  #flushing: Promise<void> | undefined;
  #syncFailure: A2AError | undefined;

  constructor(path: string) {
    this.#path = path;
    this.name = `sqlite:${path}`;
  }

  async open(): Promise<void> {
    if (this.#openDatabase) return;
    const file = await openSqliteFile(this.#path);
    try {
      const scopeTable = new TaskOwnerScopeTable(file.db);
      const reader = new TaskReader(file.db, scopeTable);
      const pushTable = new PushTable(file.db, reader);
      const writer = new TaskWriter(file.db, scopeTable, pushTable);
      const leaseTable = new TaskLeaseTable(file.db, this.#heldLeases);
      this.#syncFailure = undefined;
      this.#openDatabase = { file, scopeTable, reader, writer, pushTable, leaseTable };
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
    const open = this.#openDatabase;
    this.#openDatabase = undefined;
    this.#heldLeases.clear();
    await this.#flushing?.catch(() => {});
    open?.file.close();
  }

  /**
   * Returns the store's connection, so that an application can use additional tables in the same file. The
   * connection is valid until the store is closed. Write to the additional tables only within
   * `runTransaction`. The table names `scope`, `task`, `log`, `snapshot`, `message`, `push`, and `turn` are
   * reserved.
   */
  getDatabase(): DatabaseSync {
    return this.#requireOpen().file.db;
  }

  /**
   * Runs `work`, which must be synchronous, as one durable transaction. If `work` throws an error, the
   * transaction is rolled back.
   */
  runTransaction<T>(work: (db: DatabaseSync) => T): T {
    const result = this.#executeTransaction(work);
    this.#syncCommitsToDiskBlocking(this.#requireOpen().file);
    return result;
  }

  async commit(
    batch: readonly LogAppend[],
    { agentsAtWork = false }: { readonly agentsAtWork?: boolean } = {},
  ): Promise<readonly (AppendRefusal | undefined)[]> {
    const { scopeTable, writer, file } = this.#requireOpen();
    this.#heldLeases.holdBegunTurns(batch);
    let refusals: (AppendRefusal | undefined)[];
    try {
      refusals = this.#executeTransaction(() => batch.map((append) => writer.append(append)));
    } catch (error) {
      scopeTable.clearCache();
      throw toUnavailableError(error);
    }
    if (agentsAtWork) await this.#syncCommitsToDisk(file);
    else this.#syncCommitsToDiskBlocking(file);
    this.#heldLeases.releaseEndedTurns(batch.filter((_, at) => refusals[at] === undefined));
    return refusals;
  }

  #executeTransaction<T>(work: (db: DatabaseSync) => T): T {
    const db = this.getDatabase();
    try {
      db.exec("BEGIN IMMEDIATE");
      const result = work(db);
      db.exec("COMMIT");
      return result;
    } catch (error) {
      rollback(db);
      throw isSqliteError(error) ? toUnavailableError(error) : error;
    }
  }

  async #syncCommitsToDisk(file: OpenedSqliteFile): Promise<void> {
    const syncing = file.flush();
    this.#flushing = syncing;
    try {
      await syncing;
    } catch (error) {
      throw this.#recordDiskSyncFailure(error);
    } finally {
      if (this.#flushing === syncing) this.#flushing = undefined;
    }
    // The operating system reports a sync failure only once, so other syncs that were pending cannot be
    // trusted.
    if (this.#syncFailure) throw this.#syncFailure;
  }

  #syncCommitsToDiskBlocking(file: OpenedSqliteFile): void {
    try {
      file.flushSync();
    } catch (error) {
      throw this.#recordDiskSyncFailure(error);
    }
  }

  #recordDiskSyncFailure(error: unknown): A2AError {
    this.#syncFailure ??= toUnavailableError(
      error,
      "The task store must be opened again, because the disk failed",
    );
    return this.#syncFailure;
  }

  async load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    return this.#readThenAwaitDurability(({ reader }) => reader.load(scope, taskId));
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#readThenAwaitDurability(({ reader }) => reader.readEvents(scope, taskId, after, limit));
  }

  async list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    return this.#readThenAwaitDurability(({ reader }) => reader.list(scope, query));
  }

  async findMessage(
    scope: TaskScope,
    messageId: string,
  ): Promise<{ taskId: string; seq: number } | undefined> {
    const { reader } = this.#requireOpen();
    try {
      const found = reader.findMessageLocation(scope, messageId);
      // The lookup runs for every message and usually finds nothing, so only a result waits for the disk.
      if (found) await this.#flushing;
      return found;
    } catch (error) {
      throw this.#syncFailure ?? toUnavailableError(error);
    }
  }

  async listUnfinished(): Promise<UnfinishedTask[]> {
    return this.#readThenAwaitDurability(({ reader }) => reader.listUnfinished());
  }

  /** Runs a query, and returns the result once all data that the query has read is durable. */
  async #readThenAwaitDurability<T>(query: (open: OpenStoreComponents) => T): Promise<T> {
    const open = this.#requireOpen();
    try {
      const result = query(open);
      await this.#flushing;
      if (this.#syncFailure) throw this.#syncFailure;
      return result;
    } catch (error) {
      throw this.#syncFailure ?? toUnavailableError(error);
    }
  }

  #claimTasks(agent: string, limit: number): ClaimedTask[] {
    const { leaseTable } = this.#requireOpen();
    const keys = leaseTable.listClaimableKeys(agent, limit);
    if (keys.length === 0) return [];
    const claimed = this.runTransaction(() => leaseTable.claimTasks(keys));
    for (const lease of claimed) this.#heldLeases.hold(lease);
    return claimed;
  }

  #writePush<T>(change: (push: PushTable) => T): T {
    const { pushTable } = this.#requireOpen();
    return this.runTransaction(() => change(pushTable));
  }

  #requireOpen(): OpenStoreComponents {
    if (this.#syncFailure) throw this.#syncFailure;
    if (this.#openDatabase) return this.#openDatabase;
    throw new A2AError("UNAVAILABLE", "The task store is closed; open it first.");
  }
}

function rollback(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has already ended the transaction, as it does when the disk is full.
  }
}
