import { readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Pages that belong to no B-tree: free pages, and the pointers that `auto_vacuum` needs. */
export const PAGES_OUTSIDE_TREES = "other pages";

/** Empties the write-ahead log of a database. */
export function emptyTestLog(db: DatabaseSync): void {
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Returns the names of the B-trees with the number of their pages that commits have written to the write-ahead log. */
export function countLoggedPages(db: DatabaseSync): Map<string, number> {
  const trees = new Map<number, string>();
  for (const { pageno, name } of db.prepare("SELECT pageno, name FROM dbstat").all())
    trees.set(pageno as number, name as string);
  const wal = readFileSync(`${db.location()}-wal`);
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const pages = new Map<string, number>();
  for (let at = WAL_HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    const tree = trees.get(wal.readUInt32BE(at)) ?? PAGES_OUTSIDE_TREES;
    pages.set(tree, (pages.get(tree) ?? 0) + 1);
  }
  return pages;
}
