import type { DatabaseSync } from "node:sqlite";
import type {
  LogAppend,
  AppendRefusal,
  TaskListPage,
  TaskListQuery,
  PushStore,
  TaskScope,
  TaskStore,
  UnfinishedTask,
} from "../../engine/index.ts";
import { A2AError, type LogEvent, type Task } from "../../protocol/index.ts";
import { isSqliteError, toUnavailableError } from "./sqlite-error.ts";
import { openSqliteFile, type SqliteFile } from "./sqlite-file.ts";
import { PushTable } from "./push-table.ts";
import { TaskReader } from "./task-reader.ts";
import { ScopeTable } from "./scope-table.ts";
import { TaskWriter } from "./task-writer.ts";

interface OpenDatabase {
  readonly file: SqliteFile;
  readonly scopeTable: ScopeTable;
  readonly reader: TaskReader;
  readonly writer: TaskWriter;
  readonly pushTable: PushTable;
}

/**
 * Tasks in the SQLite file at `path`, which is created when it is not there. What `commit` resolved survives a killed
 * process and a power cut, and nothing is read that would not. A file that another process serves is refused by `open`;
 * every failure of the disk rejects with UNAVAILABLE, and nothing of the batch is kept. When it is not known what the
 * disk has, because it failed to sync, all is refused until the store is opened again.
 */
export class SqliteStore implements TaskStore {
  readonly name: string;
  readonly usesSnapshots = true;
  readonly isDurable = true;
  readonly pushStore: PushStore = {
    put: async (scope, taskId, registration) =>
      this.#writePush((push) => push.put(scope, taskId, registration)),
    get: async (scope, taskId, id) => this.#readDurably(({ pushTable: push }) => push.get(scope, taskId, id)),
    list: async (scope, taskId) => this.#readDurably(({ pushTable: push }) => push.list(scope, taskId)),
    remove: async (scope, taskId, id) => this.#writePush((push) => push.remove(scope, taskId, id)),
    listDue: async (after, limit) => this.#readDurably(({ pushTable: push }) => push.listDue(after, limit)),
    saveProgress: async (progress) => this.#writePush((push) => push.saveProgress(progress)),
    listDead: async (limit) => this.#readDurably(({ pushTable: push }) => push.listDead(limit)),
  };
  readonly #path: string;
  #openDatabase: OpenDatabase | undefined;
  /** All that is committed is on its way to the disk; pending while it is. */
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
      const scopes = new ScopeTable(file.db);
      const push = new PushTable(file.db, scopes);
      const writer = new TaskWriter(file.db, scopes, push);
      this.#syncFailure = undefined;
      this.#openDatabase = {
        file,
        scopeTable: scopes,
        reader: new TaskReader(file.db, scopes),
        writer,
        pushTable: push,
      };
    } catch (error) {
      file.close();
      throw toUnavailableError(error);
    }
  }

  async close(): Promise<void> {
    const open = this.#openDatabase;
    this.#openDatabase = undefined;
    await this.#flushing?.catch(() => {});
    open?.file.close();
  }

  /**
   * The store's connection, for statements on further tables in the same file; valid until `close`. Write within
   * `runTransaction`, and name the tables apart from `scope`, `task`, `log`, `snapshot`, `message`, `push` and `turn`.
   */
  getDatabase(): DatabaseSync {
    return this.#requireOpen().file.db;
  }

  /** Runs `work`, which must be synchronous, as one durable transaction: when it throws, nothing of it is kept. */
  runTransaction<T>(work: (db: DatabaseSync) => T): T {
    const result = this.#executeTransaction(work);
    this.#flushSync(this.#requireOpen().file);
    return result;
  }

  async commit(
    batch: readonly LogAppend[],
    { agentsAtWork = false }: { readonly agentsAtWork?: boolean } = {},
  ): Promise<readonly (AppendRefusal | undefined)[]> {
    const { scopeTable: scopes, writer, file } = this.#requireOpen();
    let refusals: (AppendRefusal | undefined)[];
    try {
      refusals = this.#executeTransaction(() => batch.map((append) => writer.append(append)));
    } catch (error) {
      scopes.clearCache();
      throw toUnavailableError(error);
    }
    if (agentsAtWork) await this.#flush(file);
    else this.#flushSync(file);
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

  async #flush(file: SqliteFile): Promise<void> {
    const syncing = file.flush();
    this.#flushing = syncing;
    try {
      await syncing;
    } catch (error) {
      throw this.#recordSyncFailure(error);
    } finally {
      if (this.#flushing === syncing) this.#flushing = undefined;
    }
    // The system tells one of several that wait, and the others that all is well.
    if (this.#syncFailure) throw this.#syncFailure;
  }

  #flushSync(file: SqliteFile): void {
    try {
      file.flushSync();
    } catch (error) {
      throw this.#recordSyncFailure(error);
    }
  }

  #recordSyncFailure(error: unknown): A2AError {
    this.#syncFailure ??= toUnavailableError(
      error,
      "The task store must be opened again, because the disk failed",
    );
    return this.#syncFailure;
  }

  async load(scope: TaskScope, taskId: string): Promise<{ task: Task; seq: number } | undefined> {
    return this.#readDurably(({ reader }) => reader.load(scope, taskId));
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#readDurably(({ reader }) => reader.readEvents(scope, taskId, after, limit));
  }

  async list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    return this.#readDurably(({ reader }) => reader.list(scope, query));
  }

  async findMessage(
    scope: TaskScope,
    messageId: string,
  ): Promise<{ taskId: string; seq: number } | undefined> {
    const { reader } = this.#requireOpen();
    try {
      const found = reader.findMessage(scope, messageId);
      // Asked for every message, and nearly always in vain, which needs no waiting.
      if (found) await this.#flushing;
      return found;
    } catch (error) {
      throw this.#syncFailure ?? toUnavailableError(error);
    }
  }

  async listUnfinished(): Promise<UnfinishedTask[]> {
    return this.#readDurably(({ reader }) => reader.listUnfinished());
  }

  /** What is read is answered once it is durable. */
  async #readDurably<T>(question: (open: OpenDatabase) => T): Promise<T> {
    const open = this.#requireOpen();
    try {
      const answer = question(open);
      await this.#flushing;
      if (this.#syncFailure) throw this.#syncFailure;
      return answer;
    } catch (error) {
      throw this.#syncFailure ?? toUnavailableError(error);
    }
  }

  #writePush<T>(change: (push: PushTable) => T): T {
    const { pushTable: push } = this.#requireOpen();
    return this.runTransaction(() => change(push));
  }

  #requireOpen(): OpenDatabase {
    if (this.#syncFailure) throw this.#syncFailure;
    if (this.#openDatabase) return this.#openDatabase;
    throw new A2AError("UNAVAILABLE", "The task store is closed; open it before it is used.");
  }
}

function rollback(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite ended the transaction itself, as it does when the disk is full.
  }
}
