import type { DatabaseSync } from "node:sqlite";
import type {
  Append,
  AppendRefusal,
  ListPage,
  ListQuery,
  Scope,
  TaskStore,
  UnfinishedTask,
} from "../../engine/index.ts";
import { A2AError, type LogEvent, type Task } from "../../protocol/index.ts";
import { isSqliteError, unavailable } from "./error.ts";
import { openFile, type SqliteFile } from "./file.ts";
import { Reader } from "./reader.ts";
import { Scopes } from "./scopes.ts";
import { Writer } from "./writer.ts";

interface Open {
  readonly file: SqliteFile;
  readonly scopes: Scopes;
  readonly reader: Reader;
  readonly writer: Writer;
}

/**
 * Tasks in the SQLite file at `path`, which is created when it is not there. What `commit` resolved survives a killed
 * process and a power cut. A file that another process serves is refused by `open`; every failure of the disk rejects
 * with UNAVAILABLE, and nothing of the batch is kept.
 */
export class SqliteStore implements TaskStore {
  readonly name: string;
  readonly snapshots = true;
  readonly #path: string;
  #open: Open | undefined;

  constructor(path: string) {
    this.#path = path;
    this.name = `sqlite:${path}`;
  }

  async open(): Promise<void> {
    if (this.#open) return;
    const file = await openFile(this.#path);
    try {
      const scopes = new Scopes(file.db);
      this.#open = { file, scopes, reader: new Reader(file.db, scopes), writer: new Writer(file.db, scopes) };
    } catch (error) {
      file.close();
      throw unavailable(error);
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    open?.file.close();
  }

  /**
   * The store's connection, for statements on further tables in the same file; valid until `close`. Write within
   * `transaction`, and name the tables apart from `scope`, `task`, `log`, `snapshot` and `message`.
   */
  database(): DatabaseSync {
    return this.#opened().file.db;
  }

  /** Runs `work`, which must be synchronous, as one durable transaction: when it throws, nothing of it is kept. */
  transaction<T>(work: (db: DatabaseSync) => T): T {
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

  async commit(batch: readonly Append[]): Promise<readonly (AppendRefusal | undefined)[]> {
    const { scopes, writer } = this.#opened();
    try {
      return this.transaction(() => batch.map((append) => writer.append(append)));
    } catch (error) {
      scopes.forget();
      throw unavailable(error);
    }
  }

  async load(scope: Scope, taskId: string): Promise<{ task: Task; seq: number } | undefined> {
    return this.#ask((reader) => reader.load(scope, taskId));
  }

  async read(
    scope: Scope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#ask((reader) => reader.read(scope, taskId, after, limit));
  }

  async list(scope: Scope, query: ListQuery): Promise<ListPage> {
    return this.#ask((reader) => reader.list(scope, query));
  }

  async findMessage(scope: Scope, messageId: string): Promise<{ taskId: string; seq: number } | undefined> {
    return this.#ask((reader) => reader.findMessage(scope, messageId));
  }

  async unfinished(): Promise<UnfinishedTask[]> {
    return this.#ask((reader) => reader.unfinished());
  }

  #ask<T>(question: (reader: Reader) => T): T {
    const { reader } = this.#opened();
    try {
      return question(reader);
    } catch (error) {
      throw unavailable(error);
    }
  }

  #opened(): Open {
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
