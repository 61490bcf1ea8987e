/**
 * Stores tasks in one SQLite file. Every SQLite commit is durable before the store acknowledges the commit.
 * Only one process at a time writes the SQLite file. The writing process uses one connection and commits
 * all waiting appends in one transaction.
 */
export { SqliteSessions } from "./sqlite-sessions.ts";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";
export { backupSqliteFile, checkpointSqliteFile, measureSqliteFile } from "./shared-file-operations.ts";
export { hasRecordedLoss } from "./file-loss-watch.ts";
