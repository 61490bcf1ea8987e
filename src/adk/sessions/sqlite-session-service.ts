import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { RepositorySessionService } from "./repository-session-service.ts";
import { adoptSessionsOfEarlierApps } from "./adopt-sessions-of-earlier-apps.ts";
import { openSqlite } from "./sqlite-file.ts";
import { SqliteSessionRepository } from "./sqlite-session-repository.ts";

/** Options of `SqliteSessionService`. */
export interface SqliteSessionServiceOptions {
  /**
   * Current app names by earlier app names. When the service opens the file, sessions that an older version of
   * Colloquy stored under an earlier name get the current name. Default: none.
   */
  readonly currentAppNamesByEarlierName?: ReadonlyMap<string, string>;
}

/**
 * ADK session service that stores sessions in a SQLite file, which may also contain the tasks of a server.
 * When `appendEvent` has resolved, the stored event survives a killed process. Storing an event adds one
 * row, regardless of the length of the session.
 */
export class SqliteSessionService extends RepositorySessionService {
  readonly #path: string;
  readonly #options: SqliteSessionServiceOptions;
  #openDatabase: { db: DatabaseSync; repository: SqliteSessionRepository } | undefined;

  /**
   * Accepts the path of a SQLite file. The service opens the file on first use, and creates the file if it
   * does not exist.
   */
  constructor(path: string, options: SqliteSessionServiceOptions = {}) {
    super();
    this.#path = resolve(path);
    this.#options = options;
  }

  /** Opens the file, which otherwise happens on first use. */
  open(): void {
    this.getRepository();
  }

  close(): void {
    this.#openDatabase?.db.close();
    this.#openDatabase = undefined;
  }

  protected override getRepository(): SqliteSessionRepository {
    if (!this.#openDatabase) {
      const db = openSqlite(this.#path);
      const { currentAppNamesByEarlierName: names } = this.#options;
      if (names) adoptSessionsOfEarlierApps(db, names);
      this.#openDatabase = { db, repository: new SqliteSessionRepository(db) };
    }
    return this.#openDatabase.repository;
  }
}
