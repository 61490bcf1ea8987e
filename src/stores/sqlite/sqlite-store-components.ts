import type { A2AError } from "../../protocol/index.ts";
import type { HeldTaskLeases } from "./held-task-leases.ts";
import { LargeContentCheckpoints } from "./large-content-checkpoints.ts";
import { PushTable } from "./push-table.ts";
import { SnapshotTable } from "./snapshot-table.ts";
import type { OpenedSqliteFile } from "./sqlite-file.ts";
import { TaskCountTable } from "./task-count-table.ts";
import { TaskDeleter } from "./task-deleter.ts";
import { TaskLeaseTable } from "./task-lease-table.ts";
import { TaskListReader } from "./task-list-reader.ts";
import { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";
import { TaskOverviewReader } from "./task-overview-reader.ts";
import { TaskReader } from "./task-reader.ts";
import { TaskWriter } from "./task-writer.ts";

/** The connection to the file, with its tables. */
export interface SqliteStoreComponents {
  readonly file: OpenedSqliteFile;
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
  /** Set after a failed sync or an I/O error. The connection then commits no more data. */
  diskFailure?: A2AError;
}

/** Creates the readers and writers of all tables for an open file. */
export function createSqliteStoreComponents(
  file: OpenedSqliteFile,
  heldLeases: HeldTaskLeases,
): SqliteStoreComponents {
  const { db, pushSecretCipher } = file;
  const scopeTable = new TaskOwnerScopeTable(db);
  const snapshotTable = new SnapshotTable(db);
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
  });
  const leaseTable = new TaskLeaseTable(db, heldLeases);
  const deleter = new TaskDeleter(db, { scopeTable, snapshotTable, writer, taskCounts });
  return {
    file,
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
