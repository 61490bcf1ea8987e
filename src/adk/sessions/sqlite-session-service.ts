import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { RepositorySessionService } from "./repository-session-service.ts";
import { openSqlite } from "./sqlite-file.ts";
import { SqliteSessionRepository } from "./sqlite-session-repository.ts";

/**
 * ADK sessions in a SQLite file, which may be the one that holds a server's tasks. What `appendEvent` resolved
 * survives a killed process. An event costs one row however long the session is.
 */
export class SqliteSessionService extends RepositorySessionService {
  readonly #path: string;
  #openDatabase: { db: DatabaseSync; getRepository: SqliteSessionRepository } | undefined;

  /** `path` is created when it is not there; the file is opened when it is first used. */
  constructor(path: string) {
    super();
    this.#path = resolve(path);
  }

  close(): void {
    this.#openDatabase?.db.close();
    this.#openDatabase = undefined;
  }

  protected override getRepository(): SqliteSessionRepository {
    if (this.#openDatabase) return this.#openDatabase.getRepository;
    const db = openSqlite(this.#path);
    const rows = new SqliteSessionRepository(db);
    this.#openDatabase = { db, getRepository: rows };
    return rows;
  }
}
