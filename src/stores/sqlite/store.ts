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
import { unavailable } from "./error.ts";
import { openFile, type SqliteFile } from "./file.ts";
import { Reader } from "./reader.ts";
import { Scopes } from "./scopes.ts";
import { Writer } from "./writer.ts";

interface Open {
  readonly file: SqliteFile;
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
      this.#open = { file, reader: new Reader(file.db, scopes), writer: new Writer(file.db, scopes) };
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
   * Runs `work` as one transaction on the store's connection and answers what it returns; when it throws, nothing of
   * it is kept. For further tables beside the tasks: `work` must be synchronous, and name its tables apart from
   * `scope`, `task`, `event`, `snapshot` and `message`. The store must be open.
   */
  transaction<T>(work: (db: DatabaseSync) => T): T {
    const { db } = this.#opened().file;
    try {
      db.exec("BEGIN IMMEDIATE");
      const result = work(db);
      db.exec("COMMIT");
      return result;
    } catch (error) {
      rollback(db);
      throw error;
    }
  }

  async commit(batch: readonly Append[]): Promise<readonly (AppendRefusal | undefined)[]> {
    const { writer } = this.#opened();
    try {
      return this.transaction(() => batch.map((append) => writer.append(append)));
    } catch (error) {
      writer.forget();
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
    throw new A2AError("UNAVAILABLE", `The task store is closed; open it before it is used.`);
  }
}

function rollback(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite ended the transaction itself, as it does when the disk is full.
  }
}
