import { resolve, dirname } from "node:path";
import { mkdirSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type {
  SessionEventData,
  SessionEventQuery,
  SessionIdentity,
  SessionListQuery,
  SessionPage,
  SessionRepository,
  SessionStateChange,
  SessionSummary,
  StoredSession,
} from "../../engine/index.ts";
import { createPrivateFile } from "./private-files.ts";
import { SqlStatements } from "./sql-database.ts";
import { isLockedDatabaseError } from "./sqlite-error-conversion.ts";

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

/**
 * SQL schema of the session tables. All session tables are separate from the tables of a task store, so
 * sessions and tasks can share a file. The schema stores events in append-only rows. Each state value has
 * its own row, so concurrent runs do not overwrite each other's state values.
 */
const CREATE_TABLES_SQL = `
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

/**
 * With WAL mode and `synchronous = NORMAL`, a commit survives a killed process without waiting for the
 * disk.
 *
 * If a task store uses the same file, the task store syncs the write-ahead log to disk before it responds.
 * Earlier session data precedes the task event in the log, so both reach the disk together. Sessions are
 * therefore as durable as tasks.
 */
const BUSY_TIMEOUT_MS = 5000;
const PRAGMAS_SQL = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
`;

const ORDER_BY_CLAUSES = { asc: "updated, id", desc: "updated DESC, id", none: "key" } as const;
const FROM_SESSIONS = "FROM adk_session WHERE app = :app AND (:user IS NULL OR user = :user)";

/** A row of the table `adk_session`. */
interface SessionRow extends SessionSummary {
  readonly key: number;
}

/** Session repository that stores sessions in a SQLite file. */
class SqliteSessionRepository implements SessionRepository {
  readonly #db: DatabaseSync;
  readonly #sql: SqlStatements;

  /**
   * Opens the file at `path`. If the file or its folder is missing, the constructor creates both. Only the current user
   * can read the new file and folder.
   */
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    createPrivateFile(path);
    // Loaded on demand, because older Node versions print a warning and in-memory sessions do not need SQLite.
    const { DatabaseSync: Database } = process.getBuiltinModule("node:sqlite");
    this.#db = new Database(path);
    this.#sql = new SqlStatements(this.#db);
    retryWhileBusy(() => this.#db.exec(PRAGMAS_SQL));
    this.#runTransaction(() => this.#db.exec(CREATE_TABLES_SQL));
  }

  close(): void {
    this.#db.close();
  }

  addSession(session: SessionSummary, state: readonly SessionStateChange[]): StoredSession | undefined {
    const { app, user, id, updated } = session;
    return this.#runTransaction(() => {
      if (this.#findSession(session)) return undefined;
      const { lastInsertRowid } = this.#sql.run(
        "INSERT INTO adk_session (app, user, id, updated) VALUES (?, ?, ?, ?)",
        app,
        user,
        id,
        updated,
      );
      const row = { key: Number(lastInsertRowid), app, user, id, updated };
      this.#writeState(row, state);
      return { ...row, events: [], state: this.#listState(row) };
    });
  }

  loadSession(
    session: SessionIdentity,
    { since = 0, limit = -1 }: SessionEventQuery,
  ): StoredSession | undefined {
    const row = this.#findSession(session);
    if (!row) return undefined;
    const events = this.#sql.all<{ json: string }>(
      "SELECT json FROM adk_event WHERE session = ? AND timestamp >= ? ORDER BY seq DESC LIMIT ?",
      row.key,
      since,
      limit,
    );
    return { ...row, events: events.map(({ json }) => json).toReversed(), state: this.#listState(row) };
  }

  listSessions({ app, user, order, limit = -1, offset }: SessionListQuery): SessionPage {
    const filter = { app, user: user ?? null };
    const sessions = this.#sql.all<SessionRow>(
      `SELECT key, app, user, id, updated ${FROM_SESSIONS} ORDER BY ${ORDER_BY_CLAUSES[order ?? "none"]} LIMIT :limit OFFSET :offset`,
      { ...filter, limit, offset },
    );
    const counted = this.#sql.get<{ total: number }>(`SELECT count(*) AS total ${FROM_SESSIONS}`, filter);
    return { sessions, total: counted?.total ?? 0 };
  }

  deleteSession(session: SessionIdentity): void {
    this.#runTransaction(() => {
      const row = this.#findSession(session);
      if (!row) return;
      this.#sql.run("DELETE FROM adk_event WHERE session = ?", row.key);
      this.#sql.run("DELETE FROM adk_state WHERE level = 'session' AND session = ?", row.key);
      this.#sql.run("DELETE FROM adk_session WHERE key = ?", row.key);
    });
  }

  appendEvent(
    session: SessionIdentity,
    { id, timestamp, json }: SessionEventData,
    state: readonly SessionStateChange[],
  ): boolean {
    return this.#runTransaction(() => {
      const row = this.#findSession(session);
      if (!row) return false;
      this.#sql.run(
        `INSERT INTO adk_event (session, id, timestamp, json) VALUES (?, ?, ?, ?)
         ON CONFLICT (session, id) DO UPDATE SET timestamp = excluded.timestamp, json = excluded.json`,
        row.key,
        id,
        timestamp,
        json,
      );
      this.#sql.run("UPDATE adk_session SET updated = ? WHERE key = ?", timestamp, row.key);
      this.#writeState(row, state);
      return true;
    });
  }

  #findSession({ app, user, id }: SessionIdentity): SessionRow | undefined {
    return this.#sql.get<SessionRow>(
      "SELECT key, app, user, id, updated FROM adk_session WHERE app = ? AND user = ? AND id = ?",
      app,
      user,
      id,
    );
  }

  #listState({ key, app, user }: SessionRow): [name: string, json: string][] {
    const rows = this.#sql.all<{ name: string; json: string }>(
      `SELECT name, json FROM adk_state
         WHERE app = :app AND level = 'session' AND user = :user AND session = :session
       UNION ALL SELECT name, json FROM adk_state
         WHERE app = :app AND level = 'app' AND user = '' AND session = 0
       UNION ALL SELECT name, json FROM adk_state
         WHERE app = :app AND level = 'user' AND user = :user AND session = 0`,
      { app, user, session: key },
    );
    return rows.map(({ name, json }) => [name, json]);
  }

  #writeState({ key, app, user }: SessionRow, state: readonly SessionStateChange[]): void {
    for (const { level, name, json } of state) {
      const primaryKey = [app, level, level === "app" ? "" : user, level === "session" ? key : 0, name];
      if (json === undefined)
        this.#sql.run(
          "DELETE FROM adk_state WHERE app = ? AND level = ? AND user = ? AND session = ? AND name = ?",
          ...primaryKey,
        );
      else this.#sql.run("INSERT OR REPLACE INTO adk_state VALUES (?, ?, ?, ?, ?, ?)", ...primaryKey, json);
    }
  }

  /** Runs `work` in a transaction. If `work` throws, the transaction is rolled back. */
  #runTransaction<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }
}

/**
 * Repeats an operation while the database is busy. SQLite's busy timeout does not cover the switch of a new
 * file to WAL mode.
 */
function retryWhileBusy(work: () => void): void {
  for (const end = performance.now() + BUSY_TIMEOUT_MS; ;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isLockedDatabaseError(error) || performance.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
