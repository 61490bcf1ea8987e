import type { A2AError } from "../../protocol/index.ts";
import type { HeldTaskLeases } from "./held-task-leases.ts";
import type { OpenedSqliteFile } from "./sqlite-file.ts";
import type { SqlStatement } from "./sql-database.ts";
import { createTaskTables, type TaskTables } from "./task-tables.ts";

/** The connection to the file, with its tables. */
export interface SqliteStoreComponents extends TaskTables {
  readonly file: OpenedSqliteFile;
  readonly begin: SqlStatement;
  readonly commit: SqlStatement;
  /** Set after a failed sync or an I/O error. The connection then commits no more data. */
  diskFailure?: A2AError;
}

/** Creates the readers and writers of all tables for an open file. */
export function createSqliteStoreComponents(
  file: OpenedSqliteFile,
  heldLeases: HeldTaskLeases,
): SqliteStoreComponents {
  const { db, pushSecretCipher } = file;
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];
  return { file, begin, commit, ...createTaskTables({ db, pushSecretCipher, heldLeases }) };
}
