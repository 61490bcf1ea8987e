import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

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

const SQLITE_BUSY = 5;

/**
 * Opens a SQLite database file. If the file or its folder is missing, the function creates both. Only the
 * current user can read the new file and folder.
 */
export function openSessionFile(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite would create the file readable by all users. An existing file is not opened here, because it may
  // belong to a task store in this process. On POSIX, closing it would release the locks of that store.
  if (!existsSync(path)) createPrivateFile(path);
  // Loaded on demand, because older Node versions print a warning and in-memory sessions do not need SQLite.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const db = new DatabaseSync(path);
  retryWhileBusy(() => db.exec(PRAGMAS_SQL));
  runTransaction(db, () => db.exec(CREATE_TABLES_SQL));
  return db;
}

/** Creates an empty file with private permissions, unless another process has already created the file. */
function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
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
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || performance.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/** Runs `work` in a transaction. If `work` throws, the transaction is rolled back. */
export function runTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
