/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export { PostgresStore, type PostgresStoreOptions } from "./postgres/index.ts";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite/index.ts";
export type { ServerStore } from "./server-store.ts";
export { foldLoggedEvents } from "./logged-events.ts";
