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
import { toUnavailableError } from "./sqlite-error-conversion.ts";
import { acquireFileLock } from "./file-lock.ts";
import { migrateSchema } from "./schema.ts";

/** A database file that only the current process has opened. */
export interface OpenedSqliteFile {
  readonly db: DatabaseSync;
  /**
   * Resolves once all previous commits would survive a power failure. The sync does not block the event
   * loop.
   */
  flush(): Promise<void>;
  flushSync(): void;
  close(): void;
}

/**
 * Initial settings of a database connection. `synchronous` is `FULL` until the store starts to sync the
 * write-ahead log (WAL) itself. A checkpoint runs every 16 MB. If several commits between two checkpoints
 * change the same page, SQLite writes the page to the database file once.
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

/**
 * Opens the database at `path`. If the file or its folder does not exist, `openSqliteFile` creates it with
 * access for the current user only.
 */
export async function openSqliteFile(path: string): Promise<OpenedSqliteFile> {
  // Load SQLite only when a file is opened, because the memory store does not need it.
  const { DatabaseSync } = await import("node:sqlite");
  const file = resolveSymlinks(resolve(path));
  function connect(name: string): DatabaseSync {
    createPrivateFile(name);
    return new DatabaseSync(name);
  }
  let release: (() => void) | undefined;
  let db: DatabaseSync | undefined;
  let wal: number | undefined;
  function close(): void {
    try {
      if (wal !== undefined) closeSync(wal);
      wal = undefined;
      // The last connection that closes writes the WAL back to the database file and deletes it.
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
    // SQLite would wait in the event loop. The committer and the recovery of tasks repeat failed writes.
    db.exec("PRAGMA busy_timeout = 0");
    wal = openWalForFlush(db, file);
    return { db, close, ...createWalFlushFunctions(wal) };
  } catch (error) {
    close();
    throw toUnavailableError(error, `${file} cannot be opened`);
  }
}

/**
 * Resolves symbolic links. SQLite places the WAL next to the target of a symbolic link. All paths to one
 * database file must lead to the same lock.
 */
function resolveSymlinks(file: string): string {
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? resolveSymlinks(resolve(dirname(file), readlinkSync(file))) : file;
}

/**
 * Switches `synchronous` from `FULL` to `NORMAL` and returns the file descriptor of the WAL. After the switch
 * to `NORMAL`, the store syncs the WAL itself. With `FULL`, a commit writes its pages to the WAL and syncs
 * the WAL in the event loop. With `NORMAL`, a commit skips the sync, so the store can sync the WAL in another
 * thread. SQLite's recovery reads the WAL up to the first incomplete page, so the order of writes does not
 * matter. SQLite holds no locks on the WAL, so opening and closing the WAL is safe, unlike opening and
 * closing the database file. Returns `undefined` if the database has no WAL, for example on disks without
 * shared memory. Without a WAL, commits sync the disk in the event loop.
 */
function openWalForFlush(db: DatabaseSync, file: string): number | undefined {
  if (db.prepare("PRAGMA journal_mode").get()?.["journal_mode"] !== "wal") return undefined;
  const wal = openSync(`${file}-wal`, "r+");
  flushFolder(dirname(file));
  db.exec("PRAGMA synchronous = NORMAL");
  return wal;
}

/** Syncs the folder so that the directory entry of the WAL is durable. */
function flushFolder(path: string): void {
  // Windows does not support syncing folders.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function createWalFlushFunctions(wal: number | undefined): Pick<OpenedSqliteFile, "flush" | "flushSync"> {
  if (wal === undefined) return { flush: async () => {}, flushSync: () => {} };
  return {
    flush: () =>
      new Promise((resolve, reject) => fdatasync(wal, (error) => (error ? reject(error) : resolve()))),
    flushSync: () => fdatasyncSync(wal),
  };
}

/**
 * Creates a file that only the current user can access. By default, SQLite creates a world-readable database
 * file. The companion files (-wal, -shm) inherit the file mode of the database file. `createPrivateFile` does
 * not open an existing file, because closing the file would release all locks of this process on the file
 * (POSIX).
 */
function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
