import type { TaskDeletionStore } from "../../engine/index.ts";
import { checkpointOnceUnread } from "./checkpoint-once-unread.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import { readSweepClockRecord, writeSweepClockRecord } from "./sweep-clock-table.ts";
import type { TaskDeleter } from "./task-deleter.ts";

/**
 * Creates the store of deletions. The transaction of a deletion is not synced. After a power failure, deleted data may
 * exist again, until the next sweep deletes the data. `flushDeletions` makes deletions durable.
 */
export function createSqliteDeletionStore(connection: SqliteConnection): TaskDeletionStore {
  const remove = <T>(work: (deleter: TaskDeleter) => T, overwrite = false): Promise<T> =>
    connection.retryWhileLocked(() => executeDeletion(connection, work, overwrite));
  return {
    listStoppedTasks: async (query) =>
      connection.readThenAwaitDurability(({ deleter }) => deleter.listStoppedTasks(query)),
    findMatchingTasks: async (selector, limit) =>
      connection.readThenAwaitDurability(({ deleter }) => deleter.findMatchingTasks(selector, limit)),
    deleteEvents: async (tasks, options) =>
      remove((deleter) => deleter.deleteEvents(tasks, options), options.overwrite),
    deleteTasks: async (tasks, options) =>
      remove((deleter) => deleter.deleteTasks(tasks, options), options.overwrite),
    deleteRemnants: async (options) =>
      remove((deleter) => deleter.deleteRemnants(options), options.overwrite),
    measureSize: async () => connection.requireOpen().deleter.measureSize(),
    returnFreeSpace: async (options) => remove((deleter) => deleter.returnFreeSpace(options)),
    flushDeletions: async () => {
      const { file } = connection.requireOpen();
      await connection.syncCommitsToDisk(file);
      // The checkpoint removes the deleted content from the write-ahead log.
      await checkpointOnceUnread(file);
    },
    sweepClock: {
      read: async () => ({ record: readSweepClockRecord(connection.requireFile().db) }),
      write: (record) =>
        connection.retryWhileLocked(() =>
          connection.executeTransaction((db) => writeSweepClockRecord(db, record)),
        ),
    },
  };
}

function executeDeletion<T>(
  connection: SqliteConnection,
  work: (deleter: TaskDeleter) => T,
  overwrite: boolean,
): T {
  const { deleter } = connection.requireWritable();
  if (overwrite) deleter.setOverwrite(true);
  deleter.setCheckpointInterval("deleting");
  try {
    return connection.executeTransaction(() => work(deleter));
  } finally {
    deleter.setCheckpointInterval("committing");
    if (overwrite) deleter.setOverwrite(false);
  }
}
