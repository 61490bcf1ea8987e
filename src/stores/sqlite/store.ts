import type { DatabaseSync } from "node:sqlite";
import type {
  Append,
  AppendRefusal,
  ListPage,
  ListQuery,
  PushStore,
  Scope,
  TaskStore,
  UnfinishedTask,
} from "../../engine/index.ts";
import { A2AError, type LogEvent, type Task } from "../../protocol/index.ts";
import { isSqliteError, unavailable } from "./error.ts";
import { openFile, type SqliteFile } from "./file.ts";
import { PushTable } from "./push.ts";
import { Reader } from "./reader.ts";
import { Scopes } from "./scopes.ts";
import { Writer } from "./writer.ts";

interface Open {
  readonly file: SqliteFile;
  readonly scopes: Scopes;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly push: PushTable;
}

/**
 * Tasks in the SQLite file at `path`, which is created when it is not there. What `commit` resolved survives a killed
 * process and a power cut, and nothing is read that would not. A file that another process serves is refused by `open`;
 * every failure of the disk rejects with UNAVAILABLE, and nothing of the batch is kept. When it is not known what the
 * disk has, because it failed to sync, all is refused until the store is opened again.
 */
export class SqliteStore implements TaskStore {
  readonly name: string;
  readonly snapshots = true;
  readonly durable = true;
  readonly push: PushStore = {
    put: async (scope, taskId, registration) => this.#write((push) => push.put(scope, taskId, registration)),
    get: async (scope, taskId, id) => this.#ask(({ push }) => push.get(scope, taskId, id)),
    list: async (scope, taskId) => this.#ask(({ push }) => push.list(scope, taskId)),
    remove: async (scope, taskId, id) => this.#write((push) => push.remove(scope, taskId, id)),
    due: async (after, limit) => this.#ask(({ push }) => push.due(after, limit)),
    advance: async (progress) => this.#write((push) => push.advance(progress)),
    dead: async (limit) => this.#ask(({ push }) => push.dead(limit)),
  };
  readonly #path: string;
  #open: Open | undefined;
  /** All that is committed is on its way to the disk; pending while it is. */
  #syncing: Promise<void> | undefined;
  #failure: A2AError | undefined;

  constructor(path: string) {
    this.#path = path;
    this.name = `sqlite:${path}`;
  }

  async open(): Promise<void> {
    if (this.#open) return;
    const file = await openFile(this.#path);
    try {
      const scopes = new Scopes(file.db);
      const push = new PushTable(file.db, scopes);
      const writer = new Writer(file.db, scopes, push);
      this.#failure = undefined;
      this.#open = { file, scopes, reader: new Reader(file.db, scopes), writer, push };
    } catch (error) {
      file.close();
      throw unavailable(error);
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await this.#syncing?.catch(() => {});
    open?.file.close();
  }

  /**
   * The store's connection, for statements on further tables in the same file; valid until `close`. Write within
   * `transaction`, and name the tables apart from `scope`, `task`, `log`, `snapshot`, `message`, `push` and `turn`.
   */
  database(): DatabaseSync {
    return this.#opened().file.db;
  }

  /** Runs `work`, which must be synchronous, as one durable transaction: when it throws, nothing of it is kept. */
  transaction<T>(work: (db: DatabaseSync) => T): T {
    const result = this.#transact(work);
    this.#syncNow(this.#opened().file);
    return result;
  }

  async commit(
    batch: readonly Append[],
    { agentsAtWork = false }: { readonly agentsAtWork?: boolean } = {},
  ): Promise<readonly (AppendRefusal | undefined)[]> {
    const { scopes, writer, file } = this.#opened();
    let refusals: (AppendRefusal | undefined)[];
    try {
      refusals = this.#transact(() => batch.map((append) => writer.append(append)));
    } catch (error) {
      scopes.forget();
      throw unavailable(error);
    }
    if (agentsAtWork) await this.#sync(file);
    else this.#syncNow(file);
    return refusals;
  }

  #transact<T>(work: (db: DatabaseSync) => T): T {
    const db = this.database();
    try {
      db.exec("BEGIN IMMEDIATE");
      const result = work(db);
      db.exec("COMMIT");
      return result;
    } catch (error) {
      rollback(db);
      throw isSqliteError(error) ? unavailable(error) : error;
    }
  }

  async #sync(file: SqliteFile): Promise<void> {
    const syncing = file.sync();
    this.#syncing = syncing;
    try {
      await syncing;
    } catch (error) {
      throw this.#fail(error);
    } finally {
      if (this.#syncing === syncing) this.#syncing = undefined;
    }
    // The system tells one of several that wait, and the others that all is well.
    if (this.#failure) throw this.#failure;
  }

  #syncNow(file: SqliteFile): void {
    try {
      file.syncNow();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #fail(error: unknown): A2AError {
    this.#failure ??= unavailable(error, "The task store must be opened again, because the disk failed");
    return this.#failure;
  }

  async load(scope: Scope, taskId: string): Promise<{ task: Task; seq: number } | undefined> {
    return this.#ask(({ reader }) => reader.load(scope, taskId));
  }

  async read(
    scope: Scope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#ask(({ reader }) => reader.read(scope, taskId, after, limit));
  }

  async list(scope: Scope, query: ListQuery): Promise<ListPage> {
    return this.#ask(({ reader }) => reader.list(scope, query));
  }

  async findMessage(scope: Scope, messageId: string): Promise<{ taskId: string; seq: number } | undefined> {
    const { reader } = this.#opened();
    try {
      const found = reader.findMessage(scope, messageId);
      // Asked for every message, and nearly always in vain, which needs no waiting.
      if (found) await this.#syncing;
      return found;
    } catch (error) {
      throw this.#failure ?? unavailable(error);
    }
  }

  async unfinished(): Promise<UnfinishedTask[]> {
    return this.#ask(({ reader }) => reader.unfinished());
  }

  /** What is read is answered once it is durable. */
  async #ask<T>(question: (open: Open) => T): Promise<T> {
    const open = this.#opened();
    try {
      const answer = question(open);
      await this.#syncing;
      if (this.#failure) throw this.#failure;
      return answer;
    } catch (error) {
      throw this.#failure ?? unavailable(error);
    }
  }

  #write<T>(change: (push: PushTable) => T): T {
    const { push } = this.#opened();
    return this.transaction(() => change(push));
  }

  #opened(): Open {
    if (this.#failure) throw this.#failure;
    if (this.#open) return this.#open;
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
