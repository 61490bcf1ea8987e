/**
 * TASK STORES. A store keeps an append-only event log for each task, and builds the task from the events in
 * its log. `MemoryStore` uses the memory of the process. `SqliteStore` uses a SQLite file and is the default
 * store of a server. `PostgresStore` uses a PostgreSQL database, which several servers can share. All stores pass the
 * same contract tests.
 */
export * from "./public.ts";
export { isPostgresUrl, planPostgresMigration, type PostgresMigrationPlan } from "./postgres/index.ts";
export {
  backupSqliteFile,
  checkpointSqliteFile,
  hasRecordedLoss,
  measureSqliteFile,
  SqliteSessions,
} from "./sqlite/index.ts";
export type {
  StoreFile,
  TaskOverview,
  TaskOverviewEntry,
  TaskOverviewPage,
  TaskOverviewQuery,
  TextIndex,
} from "./server-store.ts";
export type * from "./task-deletion-store.ts";
