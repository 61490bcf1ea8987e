import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { RepositorySessionService } from "./repository-session-service.ts";
import { openSqlite } from "./sqlite-file.ts";
import { SqliteSessionRepository } from "./sqlite-session-repository.ts";

/**
 * ADK session service that stores sessions in a SQLite file, which may also contain the tasks of a server.
 * When `appendEvent` has resolved, the stored event survives a killed process. Storing an event adds one
 * row, regardless of the length of the session.
 */
export class SqliteSessionService extends RepositorySessionService {
  readonly #path: string;
  #openDatabase: { db: DatabaseSync; repository: SqliteSessionRepository } | undefined;

  /**
   * Accepts the path of a SQLite file. The service opens the file on first use, and creates the file if it
   * does not exist.
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
