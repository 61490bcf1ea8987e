import type { PushSecretCipher } from "../push-secret-cipher.ts";
import type { HeldTaskLeases } from "./held-task-leases.ts";
import { LargeContentCheckpoints } from "./large-content-checkpoints.ts";
import { PushTable } from "./push-table.ts";
import { SnapshotTable } from "./snapshot-table.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { TaskCountTable } from "./task-count-table.ts";
import { TaskDeleter } from "./task-deleter.ts";
import { TaskLeaseTable } from "./task-lease-table.ts";
import { TaskListReader } from "./task-list-reader.ts";
import { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";
import { TaskOverviewReader } from "./task-overview-reader.ts";
import { TaskReader } from "./task-reader.ts";
import { TaskWriter } from "./task-writer.ts";

/** The readers and writers of the tables in one database. */
export interface TaskTables {
  readonly db: SqlDatabase;
  readonly scopeTable: TaskOwnerScopeTable;
  readonly reader: TaskReader;
  readonly listReader: TaskListReader;
  readonly overviewReader: TaskOverviewReader;
  readonly taskCounts: TaskCountTable;
  readonly writer: TaskWriter;
  readonly pushTable: PushTable;
  readonly leaseTable: TaskLeaseTable;
  readonly deleter: TaskDeleter;
  readonly checkpoints: LargeContentCheckpoints;
}

/** Creates the readers and writers of all tables. `maxRowBytes` limits rows that contain several events or a snapshot. */
export function createTaskTables({
  db,
  pushSecretCipher,
  heldLeases,
  maxRowBytes = Infinity,
}: {
  readonly db: SqlDatabase;
  readonly pushSecretCipher: PushSecretCipher;
  readonly heldLeases: HeldTaskLeases;
  readonly maxRowBytes?: number;
}): TaskTables {
  const scopeTable = new TaskOwnerScopeTable(db);
  const snapshotTable = new SnapshotTable(db, maxRowBytes);
  const reader = new TaskReader(db, scopeTable, snapshotTable, pushSecretCipher);
  const pushTable = new PushTable(db, reader, pushSecretCipher);
  const taskCounts = new TaskCountTable(db);
  const listReader = new TaskListReader(db, scopeTable, taskCounts, reader);
  const overviewReader = new TaskOverviewReader(db, scopeTable);
  const checkpoints = new LargeContentCheckpoints(db);
  const writer = new TaskWriter(db, {
    scopeTable,
    pushTable,
    snapshotTable,
    taskCounts,
    checkpoints,
    pushSecretCipher,
    maxRowBytes,
  });
  const leaseTable = new TaskLeaseTable(db, heldLeases);
  const deleter = new TaskDeleter(db, { scopeTable, snapshotTable, writer, taskCounts });
  return {
    db,
    scopeTable,
    reader,
    listReader,
    overviewReader,
    taskCounts,
    writer,
    pushTable,
    leaseTable,
    deleter,
    checkpoints,
  };
}
