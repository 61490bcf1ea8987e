import type { DatabaseSync } from "node:sqlite";
import { A2AError } from "../../protocol/index.ts";
import { isSqliteError } from "./sqlite-error.ts";

const SQLITE_BUSY = 5;

/**
 * Makes this process the only one that serves `path`, until it calls the answer or dies, however suddenly: the lock is
 * a write transaction held on the companion file `<path>-lock`, which the operating system ends with the process. Its
 * `user_version` is the holder's process id, readable by the one that is refused.
 */
export function acquireFileLock(path: string, connect: (path: string) => DatabaseSync): () => void {
  const db = connect(`${path}-lock`);
  try {
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${process.pid}; COMMIT; BEGIN IMMEDIATE;`);
    return () => db.close();
  } catch (error) {
    const taken = isSqliteError(error) && error.errcode === SQLITE_BUSY;
    const holder = taken ? Number(db.prepare("PRAGMA user_version").get()?.["user_version"]) : 0;
    db.close();
    if (!taken) throw error;
    throw new A2AError(
      "UNAVAILABLE",
      `${path} is in use by process ${holder}; stop that process or choose another file.`,
      { cause: error },
    );
  }
}
