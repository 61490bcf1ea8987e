import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { StoreSize } from "../task-deletion-store.ts";
import { A2AError } from "../../protocol/index.ts";
import { measureDatabaseSize } from "./database-size.ts";
import { syncFolder } from "./private-files.ts";
import { toUnavailableError } from "./sqlite-error-conversion.ts";

/**
 * Copies the store in the SQLite file `source` to the new file `target`. The copy is consistent, compact, and
 * private to the current user. Another process may use the store at the same time, and does not wait for the
 * copy. Rejects if `target` exists. Until the copy is complete, its name is `<target>.incomplete`, so that an
 * interrupted copy is never opened as a store.
 */
export async function backupSqliteFile(source: string, target: string): Promise<void> {
  await withReadOnlyDatabase(source, (db) => backupOpenDatabase(db, target));
}

/** Copies an open database like `backupSqliteFile`. The database may have no path any more. */
export function backupOpenDatabase(db: Database, target: string): void {
  const incomplete = `${target}.incomplete`;
  assertMissing(target, "choose another name");
  assertMissing(incomplete, "an earlier backup was interrupted or is still running; delete the file");
  writeBackup(db, incomplete, () => {
    assertMissing(target, "choose another name");
    renameSync(incomplete, target);
  });
}

/**
 * Copies the database to the file `target`, and replaces an earlier copy. Call the function only while the
 * process holds the lock of the store, so that no other process writes the copy.
 */
export function replaceSqliteBackup(db: Database, target: string): void {
  const incomplete = `${target}.incomplete`;
  rmSync(incomplete, { force: true });
  writeBackup(db, incomplete, () => renameSync(incomplete, target));
}

/** Writes a durable copy to the new file `incomplete`, and calls `rename`. */
function writeBackup(db: Database, incomplete: string, rename: () => void): void {
  closeSync(openSync(incomplete, "wx", 0o600));
  try {
    db.prepare("VACUUM INTO ?").run(incomplete);
    const file = openSync(incomplete, "r+");
    fsyncSync(file);
    closeSync(file);
    rename();
    syncFolder(dirname(incomplete));
  } catch (error) {
    rmSync(incomplete, { force: true });
    throw error;
  }
}

function assertMissing(path: string, remedy: string): void {
  if (existsSync(path)) throw new A2AError("INVALID_PARAMS", `${path} exists; ${remedy}.`);
}

/** Resolves with the size of the store in a SQLite file that another process may use. */
export function measureSqliteFile(path: string): Promise<StoreSize> {
  return withReadOnlyDatabase(path, measureDatabaseSize);
}

/**
 * Copies committed pages from the write-ahead log to the SQLite file, so that the file shrinks to its new
 * size. Another process may use the file at the same time, and does not wait.
 */
export async function checkpointSqliteFile(path: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } finally {
    db.close();
  }
}

type Database = import("node:sqlite").DatabaseSync;

async function withReadOnlyDatabase<T>(path: string, work: (db: Database) => T): Promise<T> {
  const { DatabaseSync } = await import("node:sqlite");
  let db: Database | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    return work(db);
  } catch (error) {
    throw toUnavailableError(error, `${path} cannot be read`);
  } finally {
    db?.close();
  }
}
