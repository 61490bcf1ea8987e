import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { RepositorySessionService } from "./repository-session-service.ts";
import { openSqlite } from "./sqlite-file.ts";
import { SqliteSessionRepository } from "./sqlite-session-repository.ts";

/**
 * ADK session service in a SQLite file, which may also contain the tasks of a server. Once `appendEvent` has
 * resolved, the event survives a killed process. An event adds one row, regardless of the length of the
 * session.
 */
export class SqliteSessionService extends RepositorySessionService {
  readonly #path: string;
  #openDatabase: { db: DatabaseSync; repository: SqliteSessionRepository } | undefined;

  /**
   * Accepts the path of the SQLite file. The file is opened on first use, and created if it does not exist.
   */
  constructor(path: string) {
    super();
    this.#path = resolve(path);
  }

  close(): void {
    this.#openDatabase?.db.close();
    this.#openDatabase = undefined;
  }

  protected override getRepository(): SqliteSessionRepository {
    if (!this.#openDatabase) {
      const db = openSqlite(this.#path);
      this.#openDatabase = { db, repository: new SqliteSessionRepository(db) };
    }
    return this.#openDatabase.repository;
  }
}
