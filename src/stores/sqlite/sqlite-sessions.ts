import { resolve } from "node:path";
import { SqliteSessionRepository } from "./sqlite-session-repository.ts";

/**
 * Sessions of agent frameworks in a SQLite file, which may also contain the tasks of a server. The file is opened on
 * first use, with its own connection, and again if it is used after `close`.
 */
export class SqliteSessions {
  readonly #path: string;
  #repository: SqliteSessionRepository | undefined;

  constructor(path: string) {
    this.#path = resolve(path);
  }

  get repository(): SqliteSessionRepository {
    this.#repository ??= new SqliteSessionRepository(this.#path);
    return this.#repository;
  }

  close(): void {
    this.#repository?.close();
    this.#repository = undefined;
  }
}
