import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { toUnavailableError } from "./sqlite-error.ts";
import { acquireFileLock } from "./file-lock.ts";
import { migrateSchema } from "./schema.ts";

/** A database file that is open in this process and in no other. */
export interface SqliteFile {
  readonly db: DatabaseSync;
  /** Resolves once all that is committed now survives a power cut. The event loop goes on meanwhile. */
  flush(): Promise<void>;
  flushSync(): void;
  close(): void;
}

/**
 * `FULL`, until we wait for the disk ourselves. Checkpoints come every 16 MB, because a page that many commits changed
 * is then written back once.
 */
const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = OFF;
  PRAGMA busy_timeout = 1000;
  PRAGMA cache_size = -32768;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA journal_size_limit = 67108864;
`;

/** Opens `path`, creating it and its folder (readable by this user only) when they are not there. */
export async function openSqliteFile(path: string): Promise<SqliteFile> {
  // Loaded when the first file is opened: who keeps tasks in memory needs no SQLite.
  const { DatabaseSync } = await import("node:sqlite");
  const file = resolveSymlinks(resolve(path));
  function connect(name: string): DatabaseSync {
    createPrivateFile(name);
    return new DatabaseSync(name);
  }
  let release: (() => void) | undefined;
  let db: DatabaseSync | undefined;
  let log: number | undefined;
  function close(): void {
    try {
      if (log !== undefined) closeSync(log);
      log = undefined;
      // The last connection to close writes the log back to the file and deletes it.
      db?.close();
    } finally {
      release?.();
    }
  }
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    release = acquireFileLock(file, connect);
    db = connect(file);
    db.exec(PRAGMAS);
    migrateSchema(db, file);
    log = openWalForFlush(db, file);
    return { db, close, ...createFlush(log) };
  } catch (error) {
    close();
    throw toUnavailableError(error, `${file} cannot be opened`);
  }
}

/** Where a link leads: SQLite has the log there, and whoever opens the file by another name is to find our lock. */
function resolveSymlinks(file: string): string {
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? resolveSymlinks(resolve(dirname(file), readlinkSync(file))) : file;
}

/**
 * Has commits no longer wait for the disk, and answers with the log that is to be synced in their place. With `FULL` a
 * commit writes its pages to the log and syncs that, in the event loop; with `NORMAL` it leaves out the second, which
 * can be done elsewhere. Recovery reads the log up to the first page that is not whole, so order is not at stake. SQLite
 * holds no locks on the log, so that it may be opened and closed by hand, other than the database.
 * Undefined where there is no such log, as on disks without shared memory: commits are as before then.
 */
function openWalForFlush(db: DatabaseSync, file: string): number | undefined {
  if (db.prepare("PRAGMA journal_mode").get()?.["journal_mode"] !== "wal") return undefined;
  const log = openSync(`${file}-wal`, "r+");
  flushFolder(dirname(file));
  db.exec("PRAGMA synchronous = NORMAL");
  return log;
}

/** That the log exists is to survive, too. */
function flushFolder(path: string): void {
  // Windows has no such thing.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function createFlush(log: number | undefined): Pick<SqliteFile, "flush" | "flushSync"> {
  if (log === undefined) return { flush: async () => {}, flushSync: () => {} };
  return {
    flush: () =>
      new Promise((resolve, reject) => fdatasync(log, (error) => (error ? reject(error) : resolve()))),
    flushSync: () => fdatasyncSync(log),
  };
}

/**
 * SQLite would create the file readable by everybody; its companions (-wal, -shm) take over the mode. A file that is
 * there is not so much as opened: on POSIX, closing it would end every lock that this process holds on it.
 */
function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
