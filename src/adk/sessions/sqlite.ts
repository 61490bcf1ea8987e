import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { RowsSessionService } from "./service.ts";
import { openSqlite } from "./sqlite-file.ts";
import { SqliteRows } from "./sqlite-rows.ts";

/**
 * ADK sessions in a SQLite file, which may be the one that holds a server's tasks. What `appendEvent` resolved
 * survives a killed process. An event costs one row however long the session is.
 */
export class SqliteSessionService extends RowsSessionService {
  readonly #path: string;
  #opened: { db: DatabaseSync; rows: SqliteRows } | undefined;

  /** `path` is created when it is not there; the file is opened when it is first used. */
  constructor(path: string) {
    super();
    this.#path = resolve(path);
  }

  close(): void {
    this.#opened?.db.close();
    this.#opened = undefined;
  }

  protected override rows(): SqliteRows {
    if (this.#opened) return this.#opened.rows;
    const db = openSqlite(this.#path);
    const rows = new SqliteRows(db);
    this.#opened = { db, rows };
    return rows;
  }
}
