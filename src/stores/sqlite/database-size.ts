import type { StoreSize } from "../task-deletion-store.ts";
import type { SqlDatabase } from "./sql-database.ts";

export function readPragma(db: SqlDatabase, name: string): number {
  return db.prepare(`PRAGMA ${name}`).get()?.[name] as number;
}

/** Returns the size of a database without its write-ahead log. */
export function measureDatabaseSize(db: SqlDatabase): StoreSize {
  const pageSize = readPragma(db, "page_size");
  const freePages = readPragma(db, "freelist_count");
  return {
    usedBytes: (readPragma(db, "page_count") - freePages) * pageSize,
    freeBytes: freePages * pageSize,
  };
}
