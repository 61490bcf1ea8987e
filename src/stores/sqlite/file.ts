import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { unavailable } from "./error.ts";
import { holdLock } from "./lock.ts";
import { prepareSchema } from "./schema.ts";

/** A database file that is open in this process and in no other. */
export interface SqliteFile {
  readonly db: DatabaseSync;
  close(): void;
}

/**
 * `FULL`: in WAL mode the only setting under which a commit survives a power cut. Checkpoints come every 16 MB, because
 * a page that many commits changed is then written back once.
 */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = OFF;
  PRAGMA busy_timeout = 1000;
  PRAGMA cache_size = -32768;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA journal_size_limit = 67108864;
`;

/** Opens `path`, creating it and its folder (readable by this user only) when they are not there. */
export async function openFile(path: string): Promise<SqliteFile> {
  // Loaded when the first file is opened: who keeps tasks in memory needs no SQLite.
  const { DatabaseSync } = await import("node:sqlite");
  const file = resolve(path);
  function connect(name: string): DatabaseSync {
    createPrivately(name);
    return new DatabaseSync(name);
  }
  let release: (() => void) | undefined;
  let db: DatabaseSync | undefined;
  function close(): void {
    try {
      // The last connection to close writes the log back to the file and deletes it.
      db?.close();
    } finally {
      release?.();
    }
  }
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    release = holdLock(file, connect);
    db = connect(file);
    db.exec(SETTINGS);
    prepareSchema(db, file);
    return { db, close };
  } catch (error) {
    close();
    throw unavailable(error, `${file} cannot be opened`);
  }
}

/**
 * SQLite would create the file readable by everybody; its companions (-wal, -shm) take over the mode. A file that is
 * there is not so much as opened: on POSIX, closing it would end every lock that this process holds on it.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
