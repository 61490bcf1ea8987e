import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
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
  SessionRepository,
  TaskDeletionStore,
  TaskScope,
  TaskStore,
  UnfinishedTask,
} from "../../engine/index.ts";
import { defineOptionNames } from "../../usage-checks/index.ts";
import type { LogEvent } from "../../protocol/index.ts";
import { toUnavailableError } from "./sqlite-error-conversion.ts";
import { SqliteSessions } from "./sqlite-sessions.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createSqliteDeletionStore } from "./sqlite-deletion-store.ts";
import { backupOpenDatabase } from "./shared-file-operations.ts";
import { GroupedPushWrites, type PushWriteGroup } from "./grouped-push-writes.ts";
import { PROCESS_LEASE_RENEW_INTERVAL_MS } from "../process-lease.ts";
import type { PushSecretKeysOption } from "../push-secret-cipher.ts";
import { HeldTaskLeases } from "./held-task-leases.ts";
import { createTaskTextIndex, indexQueuedTasks } from "./task-text-index.ts";
import { TaskTextIndexer } from "../task-text-indexer.ts";

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
export class SqliteStore implements TaskStore {
  readonly name: string;
  readonly usesSnapshots = true;
  readonly isDurable = true;
  readonly filePath: string;
  readonly pushStore: PushStore = {
    put: async (scope, taskId, registration) =>
      this.#pushWrites.write((push) => push.put(scope, taskId, registration)),
    get: async (scope, taskId, id) =>
      this.#connection.readThenAwaitDurability(({ pushTable }) => pushTable.get(scope, taskId, id)),
    list: async (scope, taskId) =>
      this.#connection.readThenAwaitDurability(({ pushTable }) => pushTable.list(scope, taskId)),
    remove: async (scope, taskId, id) => this.#pushWrites.write((push) => push.remove(scope, taskId, id)),
    claim: async (scope, taskId, now) =>
      this.#connection.readThenAwaitDurability(({ pushTable }) => pushTable.claim(scope, taskId, now)),
    claimDue: async (query) =>
      this.#connection.readThenAwaitDurability(({ pushTable }) => pushTable.claimDue(query)),
    findRetries: async (now) =>
      this.#connection.readThenAwaitDurability(({ pushTable }) => pushTable.findRetries(now)),
    saveProgress: async (progress) => this.#pushWrites.write((push) => push.saveProgress(progress)),
    countUndelivered: async (scope, limit) =>
      this.#connection.readThenAwaitDurability(({ pushTable }) => pushTable.countUndelivered(scope, limit)),
    listDeadWebhooks: async (limit) =>
      this.#connection.readThenAwaitDurability(({ pushTable }) => pushTable.listDeadWebhooks(limit)),
  };
  readonly overview: TaskOverview = this.#createOverview();
  readonly leases: TaskLeases = {
    renewIntervalMs: PROCESS_LEASE_RENEW_INTERVAL_MS,
    claim: async (agent, limit) => this.#claimTasks(agent, limit),
    renew: async () => [],
    release: async (lease) => this.#heldLeases.release(lease),
  };
  readonly #heldLeases = new HeldTaskLeases();
  readonly deletionStore: TaskDeletionStore;
  readonly #options: SqliteStoreOptions;
  readonly #sessions: SqliteSessions;
  readonly #connection: SqliteConnection;
  /** Present if the store searches text. */
  #textIndexer: TaskTextIndexer | undefined;
  readonly #pushWrites = new GroupedPushWrites(() => this.commit([], { agentsAtWork: true }));

  constructor(path: string, options: SqliteStoreOptions = {}) {
    assertKnownOptions(options);
    this.#options = options;
    this.filePath = resolve(path);
    this.name = `sqlite:${path}`;
    this.#sessions = new SqliteSessions(path);
    this.#connection = new SqliteConnection(path, this.name, this.#heldLeases);
    this.deletionStore = createSqliteDeletionStore(this.#connection);
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
    const textIndexer = this.#textIndexer;
    this.#textIndexer = undefined;
    const closeFile = this.#connection.prepareClose();
    this.#heldLeases.clear();
    await textIndexer?.stop();
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
    return this.#connection.executeDurably(work);
  }

  /**
   * Rebuilds the entire file without free space. The call blocks the event loop until the file is rebuilt, so
   * use it only while no server uses the store. Files of earlier versions can then also shrink in use.
   */
  rebuildFile(): void {
    const { file } = this.#connection.requireOpen();
    try {
      file.db.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
    } catch (error) {
      throw toUnavailableError(error);
    }
  }

  async backUp(target: string): Promise<void> {
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
    this.#connection.unsyncedBatches.add(batch);
    this.#heldLeases.holdBegunTurns(batch);
    try {
      const { refusals, sync } = await this.#connection.retryWhileLocked(() => {
        const write = (): (AppendRefusal | undefined)[] => this.#writeBatch(batch, pushWrites);
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
      pushWrites.resolve();
      this.#textIndexer?.schedule();
      return refusals;
    } catch (error) {
      // The events of a task can make the batch fail, so the changes of webhooks are committed again alone.
      if (batch.length > 0) this.#pushWrites.putBack(pushWrites);
      else pushWrites.reject(error);
      throw error;
    } finally {
      this.#connection.unsyncedBatches.delete(batch);
    }
  }

  #writeBatch(batch: readonly LogAppend[], pushWrites: PushWriteGroup): (AppendRefusal | undefined)[] {
    const { writer, pushTable } = this.#connection.requireOpen();
    pushWrites.run(pushTable);
    return batch.map((append) => writer.append(append));
  }

  async load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    return this.#connection.readThenAwaitDurability(
      ({ reader }) => reader.load(scope, taskId),
      () => this.#connection.isInDoubt(scope, taskId),
    );
  }

  async isTaskUnchanged(
    scope: TaskScope,
    taskId: string,
    loaded: Pick<StoredTask, "seq" | "epoch">,
  ): Promise<boolean> {
    return this.#connection.readThenAwaitDurability(
      ({ reader }) => reader.isTaskUnchanged(scope, taskId, loaded),
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
      ({ reader }) => reader.readEvents(scope, taskId, after, limit),
      () => this.#connection.isInDoubt(scope, taskId),
    );
  }

  async list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    return this.#connection.readThenAwaitDurability(
      ({ listReader }) => listReader.list(scope, query),
      ({ tasks }) => tasks.some(({ id }) => this.#connection.isInDoubt(scope, id)),
    );
  }

  findMessage(scope: TaskScope, messageId: string): ReturnType<TaskStore["findMessage"]> {
    try {
      const found = this.#connection.requireOpen().reader.findMessageLocation(scope, messageId);
      // The lookup runs for every message and usually finds nothing, so only a result waits for the disk.
      if (!found) return undefined;
    } catch (error) {
      throw this.#connection.reportFailure(error);
    }
    return this.#connection.readThenAwaitDurability(
      ({ reader }) => reader.findMessageLocation(scope, messageId),
      (found) => found !== undefined && this.#connection.isInDoubt(scope, found.taskId),
    );
  }

  async readSteps(scope: TaskScope, taskId: string, turnSeq: number): Promise<readonly FinishedStep[]> {
    return this.#connection.readThenAwaitDurability(
      ({ reader }) => reader.readSteps(scope, taskId, turnSeq),
      () => this.#connection.isInDoubt(scope, taskId),
    );
  }

  async listUnfinished(): Promise<UnfinishedTask[]> {
    return this.#connection.readThenAwaitDurability(({ reader }) => reader.listUnfinished());
  }

  async listTasksWithQueuedTurns(): Promise<{ scope: TaskScope; taskId: string }[]> {
    return this.#connection.readThenAwaitDurability(({ reader }) => reader.listTasksWithQueuedTurns());
  }

  #createOverview(): TaskOverview {
    const isTextIndexed = (): boolean => this.#textIndexer !== undefined;
    return {
      get searchesText() {
        return isTextIndexed();
      },
      startTextIndex: async () => this.#startTextIndex(),
      prepareForAllCallers: async () =>
        this.runTransaction(() => this.#connection.requireOpen().overviewReader.createIndexForAllCallers()),
      list: async (query) =>
        this.#connection.readThenAwaitDurability(
          ({ overviewReader }) => overviewReader.list(query),
          ({ tasks }) => tasks.some(({ scope, taskId }) => this.#connection.isInDoubt(scope, taskId)),
        ),
      findScope: async (agent, taskId) =>
        this.#connection.readThenAwaitDurability(({ overviewReader }) =>
          overviewReader.findScope(agent, taskId),
        ),
    };
  }

  #startTextIndex(): void {
    if (this.#textIndexer) return;
    this.runTransaction((db) => createTaskTextIndex(db));
    this.#textIndexer = new TaskTextIndexer({
      // A power failure restores the queue together with the index, so that the batch needs no sync.
      indexBatch: (limit) =>
        this.#connection.executeTransaction((db) =>
          indexQueuedTasks(db, limit, (key) => this.#connection.requireOpen().reader.foldTask({ key })),
        ),
    });
    this.#textIndexer.schedule();
  }

  #claimTasks(agent: string, limit: number): ClaimedTask[] {
    const { leaseTable } = this.#connection.requireOpen();
    const keys = leaseTable.listClaimableKeys(agent, limit);
    if (keys.length === 0) return [];
    const claimed = this.runTransaction(() => leaseTable.claimTasks(keys));
    for (const lease of claimed) this.#heldLeases.hold(lease);
    return claimed;
  }
}
