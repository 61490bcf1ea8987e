import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/**
 * Every table is this room's own, so that the file can be that of a task store. Events are rows that are only ever
 * added; state is a row per name, so that runs that share a session, a user or an app never overwrite one another.
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
 * In WAL mode with NORMAL a commit survives a killed process without waiting for the disk. In the file of a task store,
 * which syncs its log before it answers, a session is as durable as its tasks: what it wrote before an event of its task
 * was committed stands before that event in the same log, and reaches the disk with it.
 */
const BUSY_TIMEOUT_MS = 5000;
const PRAGMAS_SQL = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
`;

const SQLITE_BUSY = 5;

/** Opens the file at `path`, creating it and its folder (readable by this user only) when they are not there. */
export function openSqlite(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite would create it readable by everybody. A file that is there may be a task store's, open in this process:
  // on POSIX, opening and closing it here would end the locks that the store holds on it.
  if (!existsSync(path)) createPrivateFile(path);
  // Not imported above: older versions of Node warn of it, and who keeps sessions in memory needs no SQLite.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const db = new DatabaseSync(path);
  retryWhileBusy(() => db.exec(PRAGMAS_SQL));
  runTransaction(db, () => db.exec(CREATE_TABLES_SQL));
  return db;
}

/** Another process may be about to do the same. */
function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** For what SQLite does not wait for by itself: while one process makes WAL the mode of a new file, others cannot. */
function retryWhileBusy(work: () => void): void {
  for (const end = Date.now() + BUSY_TIMEOUT_MS; ;) {
    try {
      work();
      return;
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || Date.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/** Does `work` as one transaction: when it throws, nothing of it is kept. */
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
