import type { SqlDatabase } from "./sql-database.ts";

/** Smallest log row, in characters, that counts as large. Most of its pages change only once. */
const MIN_LARGE_ROW_SIZE = 16 * 1024;
/** A checkpoint of this many characters blocks the event loop for about 5 ms, besides the sync of the disk. */
const CHECKPOINTED_SIZE = 2 * 2 ** 20;

/**
 * Runs short checkpoints while large rows are written. The checkpoint that the store runs every 16 MB would
 * block the event loop for about 40 ms. Small rows wait for that checkpoint, because their commits change the
 * same pages repeatedly, and a later checkpoint writes each page only once.
 */
export class LargeContentCheckpoints {
  readonly #db: SqlDatabase;
  #sizeSinceCheckpoint = 0;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  /** Counts a log row with `size` characters. */
  countRow(size: number): void {
    if (size >= MIN_LARGE_ROW_SIZE) this.#sizeSinceCheckpoint += size;
  }

  /** Whether enough large rows have been written for a checkpoint. */
  get isDue(): boolean {
    return this.#sizeSinceCheckpoint >= CHECKPOINTED_SIZE;
  }

  /** Runs a checkpoint. Call `run` only outside of a transaction. */
  run(): void {
    this.#sizeSinceCheckpoint = 0;
    try {
      this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // After a failed checkpoint, the content remains in the write-ahead log, and a later checkpoint copies it.
    }
  }
}
