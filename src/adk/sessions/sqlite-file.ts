import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/**
 * Every table is this room's own, so that the file can be that of a task store. Events are rows that are only ever
 * added; state is a row per name, so that runs that share a session, a user or an app never overwrite one another.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS adk_session (
    key INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    user TEXT NOT NULL,
    id TEXT NOT NULL,
    updated REAL NOT NULL,
    UNIQUE (app, user, id)
  );
  CREATE TABLE IF NOT EXISTS adk_event (
    seq INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    timestamp REAL NOT NULL,
    json TEXT NOT NULL,
    UNIQUE (session, id)
  );
  CREATE INDEX IF NOT EXISTS adk_event_order ON adk_event (session);
  CREATE TABLE IF NOT EXISTS adk_state (
    app TEXT NOT NULL,
    level TEXT NOT NULL,
    user TEXT NOT NULL,
    session INTEGER NOT NULL,
    name TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (app, level, user, session, name)
  ) WITHOUT ROWID;
`;

/** In WAL mode beside a task store: FULL, so that a session is never older than the task that was told of it. */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 5000;
`;

interface Waiting {
  readonly work: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A connection whose writes are gathered: all that wait in one turn of the event loop are one transaction. */
export class SqliteFile {
  readonly db: DatabaseSync;
  #waiting: Waiting[] = [];

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite would create it readable by everybody. A file that is there may be a task store's, open in this process:
    // on POSIX, opening and closing it here would end the locks that the store holds on it.
    if (!existsSync(path)) closeSync(openSync(path, "wx", 0o600));
    // Not imported above: older versions of Node warn of it, and who keeps sessions in memory needs no SQLite.
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    this.db = new DatabaseSync(path);
    this.db.exec(SETTINGS);
    this.db.exec(TABLES);
  }

  /** Does `work`, which is synchronous and throws, if at all, before it writes. Resolves when that is durable. */
  write(work: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ work, resolve, reject }) === 1) setImmediate(() => this.#commit());
    });
  }

  close(): void {
    this.#commit();
    this.db.close();
  }

  #commit(): void {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    const refused = new Map<Waiting, unknown>();
    try {
      this.db.exec("BEGIN IMMEDIATE");
      for (const waiting of batch) {
        try {
          waiting.work();
        } catch (error) {
          refused.set(waiting, error);
        }
      }
      this.db.exec("COMMIT");
    } catch (error) {
      if (this.db.isTransaction) this.db.exec("ROLLBACK");
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const waiting of batch) {
      if (refused.has(waiting)) waiting.reject(refused.get(waiting));
      else waiting.resolve();
    }
  }
}
