import { existsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { A2AError } from "../../protocol/index.ts";
import { isLockedDatabaseError } from "./sqlite-error-conversion.ts";

/**
 * Acquires an exclusive lock on the file `path` and returns a function that releases the lock. The lock is a
 * write transaction on the companion file `<path>-lock`. The operating system therefore releases the lock
 * even if the process is killed. The `user_version` of the database `<path>-lock` is the id of the process
 * that holds the lock. If another process holds the lock, the error message contains the id of that process.
 */
export function acquireFileLock(path: string, connect: (path: string) => DatabaseSync): () => void {
  assertNotHardLinkOfOtherStore(path);
  const db = connect(`${path}-lock`);
  try {
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${process.pid}; COMMIT; BEGIN IMMEDIATE;`);
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

/**
 * Throws an error if the file belongs to a store with another path. Every path of a file has its own lock and
 * its own WAL, so SQLite would damage a file that is opened by two paths. The path that the store uses has a
 * lock file.
 */
function assertNotHardLinkOfOtherStore(path: string): void {
  const linkCount = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1;
  if (linkCount === 1 || existsSync(`${path}-lock`)) return;
  throw new A2AError(
    "UNAVAILABLE",
    `${path} is a hard link of a store with another path; open the store by its own path, or copy the file.`,
  );
}
