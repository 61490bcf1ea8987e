import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { A2AError } from "../../protocol/index.ts";
import { isLockedDatabaseError } from "./sqlite-error-conversion.ts";

/**
 * Acquires an exclusive lock on the file `path` and returns a function that releases the lock. The lock is a
 * write transaction on the companion file `<path>-lock`. The operating system therefore releases the lock
 * even if the process is killed. The `user_version` of the database `<path>-lock` is the id of the process
 * that holds the lock. If another process holds the lock, the error message contains the id of that process. The
 * `application_id` of `<path>-lock` identifies the path, because hard links can share a lock file. The table
 * `locked_file` contains the device and the inode of the last locked file. If they differ, the lock file is new, or the
 * file was moved, and another process may hold another lock on the same file. `acquireFileLock` then rejects a file
 * that any other process has opened.
 */
export function acquireFileLock(path: string, connect: (path: string) => DatabaseSync): () => void {
  const hasLinks = (statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) > 1;
  if (hasLinks && !existsSync(`${path}-lock`)) throw createHardLinkError(path);
  const db = connect(`${path}-lock`);
  try {
    db.exec("BEGIN IMMEDIATE");
    const pathId = computePathId(path);
    const lastPathId = db.prepare("PRAGMA application_id").get()?.["application_id"];
    if (hasLinks && lastPathId !== 0 && lastPathId !== pathId) throw createHardLinkError(path);
    db.exec("CREATE TABLE IF NOT EXISTS locked_file (identity TEXT)");
    const identity = identifyFile(path, connect);
    if (db.prepare("SELECT identity FROM locked_file").get()?.["identity"] !== identity) {
      assertUnused(path, connect);
      db.exec(`DELETE FROM locked_file; INSERT INTO locked_file VALUES ('${identity}')`);
    }
    db.exec(
      `PRAGMA user_version = ${process.pid}; PRAGMA application_id = ${pathId}; COMMIT; BEGIN IMMEDIATE;`,
    );
    return () => db.close();
  } catch (error) {
    const isLocked = isLockedDatabaseError(error);
    const holder = isLocked ? Number(db.prepare("PRAGMA user_version").get()?.["user_version"]) : 0;
    db.close();
    if (!isLocked) throw error;
    throw new A2AError(
      "UNAVAILABLE",
      `${path} is in use by process ${holder}; stop that process or choose another file.`,
      { cause: error },
    );
  }
}

/** Creates the file if it does not exist, and returns its device and inode. */
function identifyFile(path: string, connect: (path: string) => DatabaseSync): string {
  connect(path).close();
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev} ${ino}`;
}

/** Throws `UNAVAILABLE` if another process has opened the database. */
function assertUnused(path: string, connect: (path: string) => DatabaseSync): void {
  if (statSync(path).size === 0) return;
  const db = connect(path);
  try {
    // In this mode, SQLite locks the database file itself instead of its write-ahead log.
    db.exec("PRAGMA busy_timeout = 1000; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
  } catch (error) {
    // Other errors, such as that of a file without a database, have a better explanation when the store is opened.
    if (!isLockedDatabaseError(error) || isUsedByThisProcessOnly(path)) return;
    throw new A2AError(
      "UNAVAILABLE",
      `${path} is in use by another process, but ${path}-lock does not belong to this file; stop that process.`,
    );
  } finally {
    db.close();
  }
}

/**
 * Returns true if the kernel knows no lock of another process on the database. ADK sessions of this process may have
 * opened the file before the store. Only Linux lists the locks, so the function returns true on other systems.
 */
function isUsedByThisProcessOnly(path: string): boolean {
  let locks: string;
  try {
    locks = readFileSync("/proc/locks", "utf8");
  } catch {
    return true;
  }
  const inode = `:${statSync(path).ino}`;
  const fields = locks.split("\n").map((line) => line.trim().split(/\s+/));
  const holders = fields.filter((lock) => lock[5]?.endsWith(inode)).map((lock) => Number(lock[4]));
  return holders.length > 0 && holders.every((pid) => pid === process.pid);
}

/**
 * Creates the error for a file that belongs to a store with another path. Every path of a file has its own WAL, so
 * SQLite would damage a file that is opened by two paths.
 */
function createHardLinkError(path: string): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    `${path} is a hard link of a store with another path; open the store by its own path, or copy the file.`,
  );
}

/** Returns a positive 31-bit number that identifies the path. */
function computePathId(path: string): number {
  const realPath = join(realpathSync(dirname(path)), basename(path));
  return createHash("sha256").update(realPath).digest().readUInt32BE() >>> 1 || 1;
}
