import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openSessionFile } from "./sqlite-session-file.ts";
import { SqliteSessionRepository } from "./sqlite-session-repository.ts";

/**
 * Sessions of agent frameworks in a SQLite file, which may also contain the tasks of a server. The file is opened on
 * first use, with its own connection, and again if it is used after `close`.
 */
export class SqliteSessions {
  readonly #path: string;
  #opened: { readonly db: DatabaseSync; readonly repository: SqliteSessionRepository } | undefined;

  constructor(path: string) {
    this.#path = resolve(path);
  }

  get repository(): SqliteSessionRepository {
    this.#opened ??= this.#open();
    return this.#opened.repository;
  }

  close(): void {
    this.#opened?.db.close();
    this.#opened = undefined;
  }

  #open(): { db: DatabaseSync; repository: SqliteSessionRepository } {
    const db = openSessionFile(this.#path);
    return { db, repository: new SqliteSessionRepository(db) };
  }
}
