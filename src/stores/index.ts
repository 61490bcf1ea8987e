/**
 * WHERE TASKS LIVE. A store keeps one append-only log of events per task and folds tasks from it. There are two, and
 * both pass the same contract: the memory of this process, and a SQLite file, which is the default of a server.
 */
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export { SqliteStore } from "./sqlite/index.ts";
