import type { DatabaseSync } from "node:sqlite";

/** Commits one page without changing any data. Throws an error if the database cannot be written. */
export function commitTestWrite(db: DatabaseSync): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  try {
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${version}; COMMIT`);
  } catch (error) {
    rollback(db);
    throw error;
  }
}

/** Ends the transaction without changes. */
export function rollback(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has already ended the transaction, as it does when the disk is full.
  }
}
