/**
 * TASK STORES. A store keeps one append-only log of events per task and folds tasks from the logs.
 * `MemoryStore` uses the memory of the process. `SqliteStore` uses a SQLite file and is the default store
 * of a server. `MemoryStore` and `SqliteStore` pass the same contract tests.
 */
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export { SqliteStore } from "./sqlite/index.ts";
