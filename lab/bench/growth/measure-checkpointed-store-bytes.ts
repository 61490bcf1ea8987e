import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Returns the size in bytes of a SQLite file after all pages of its write-ahead log are in the file. */
export async function measureCheckpointedStoreBytes(storeFile: string): Promise<number> {
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(storeFile);
  try {
    while (db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] !== 0) await pause(50);
    return statSync(storeFile).size;
  } finally {
    db.close();
  }
}
