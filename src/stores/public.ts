/** What package entries export of this folder. `index.ts` adds what only other folders use. */
export { MemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export { PostgresStore, type PostgresStoreOptions } from "./postgres/index.ts";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite/index.ts";
export type { ServerStore } from "./server-store.ts";
export { foldLoggedEvents } from "./logged-events.ts";
