import { setTimeout as pause } from "node:timers/promises";
import type { TaskDeletionStore } from "../task-deletion-store.ts";
import { A2AError } from "../../protocol/index.ts";
import { measureDatabaseSize, readPragma } from "./database-size.ts";
import type { SqlDatabase } from "./sql-database.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { OpenedSqliteFile } from "./sqlite-file.ts";
import { createSqlDeletionStore } from "./task-deletion.ts";
import type { TaskTables } from "./task-tables.ts";
import { COMMIT_CHECKPOINT_PAGES } from "./wal-checkpoint-pages.ts";

const PAGES_PER_VACUUM_STATEMENT = 16;
/** Share of free pages that the store keeps for new data, and the number of pages that it always keeps. */
const KEPT_FREE_SHARE = 0.1;
const MIN_KEPT_FREE_PAGES = 256;
const AUTO_VACUUM_INCREMENTAL = 2;
/** Interval in milliseconds between the attempts to empty the write-ahead log. */
const CHECKPOINT_RETRY_INTERVAL_MS = 50;
/** Maximum time in milliseconds to wait for another program, such as a backup of a large file. */
const MAX_CHECKPOINT_WAIT_MS = 60_000;

/**
 * Creates the store of deletions. The transaction of a deletion is not synced. After a power failure, deleted data may
 * exist again, until the next sweep deletes the data. `flushDeletions` makes deletions durable.
 */
export function createSqliteDeletionStore(connection: SqliteConnection): TaskDeletionStore {
  const transact = <T>(work: (tables: TaskTables) => T): Promise<T> =>
    connection.retryWhileLocked(() => connection.executeTransaction(work));
  return {
    ...createSqlDeletionStore({
      read: (query) => connection.readThenAwaitDurability(query),
      write: transact,
      remove: (work, overwrite = false) =>
        connection.retryWhileLocked(() => {
          const { db } = connection.requireWritable();
          if (overwrite) db.exec("PRAGMA secure_delete = ON");
          // While the server commits events, these commits run the checkpoints, so that a deletion does not take longer.
          db.exec(`PRAGMA wal_autocheckpoint = ${3 * COMMIT_CHECKPOINT_PAGES}`);
          try {
            return connection.executeTransaction(work);
          } finally {
            db.exec(`PRAGMA wal_autocheckpoint = ${COMMIT_CHECKPOINT_PAGES}`);
            if (overwrite) db.exec("PRAGMA secure_delete = FAST");
          }
        }),
    }),
    measureSize: async () => measureDatabaseSize(connection.requireOpen().db),
    returnFreeSpace: (options) => transact(({ db }) => returnFreeSpace(db, options)),
    flushDeletions: async () => {
      const file = connection.requireFile();
      await connection.syncCommitsToDisk(file);
      // The checkpoint removes the deleted content from the write-ahead log.
      await checkpointOnceUnread(file);
    },
  };
}

/**
 * Removes free pages from the file. Returns true if more pages can be removed. Call `returnFreeSpace` only
 * within a transaction.
 */
function returnFreeSpace(
  db: SqlDatabase,
  { budgetMs, all }: { readonly budgetMs: number; readonly all: boolean },
): boolean {
  // An application can have created the file with its own tables.
  if (readPragma(db, "auto_vacuum") !== AUTO_VACUUM_INCREMENTAL) return false;
  const pages = readPragma(db, "page_count");
  const kept = all ? 0 : Math.max(MIN_KEPT_FREE_PAGES, Math.floor(pages * KEPT_FREE_SHARE));
  const deadline = performance.now() + budgetMs;
  for (;;) {
    const surplus = readPragma(db, "freelist_count") - kept;
    if (surplus <= 0) return false;
    if (performance.now() >= deadline) return true;
    db.exec(`PRAGMA incremental_vacuum(${Math.min(surplus, PAGES_PER_VACUUM_STATEMENT)})`);
  }
}

/**
 * Empties the write-ahead log. While another program reads the file, SQLite keeps the log. Rejects with
 * `UNAVAILABLE` if the other program does not stop in time.
 */
async function checkpointOnceUnread(file: Pick<OpenedSqliteFile, "checkpointEntireWal">): Promise<void> {
  const deadline = performance.now() + MAX_CHECKPOINT_WAIT_MS;
  while (!file.checkpointEntireWal()) {
    if (performance.now() >= deadline) {
      const text =
        "The tasks are deleted, but their content remains in the write-ahead log while another program reads the file; stop that program and repeat the erasure.";
      throw new A2AError("UNAVAILABLE", text);
    }
    await pause(CHECKPOINT_RETRY_INTERVAL_MS);
  }
}
