/** The task stores that need no Node.js, for browsers and workers. */
export { MemoryStore, type MemoryStoreOptions } from "../memory-store.ts";
export type {
  ServerStore,
  StoreFile,
  TaskOverview,
  TaskOverviewEntry,
  TaskOverviewPage,
  TaskOverviewQuery,
  TextIndex,
} from "../server-store.ts";
export { foldLoggedEvents } from "../logged-events.ts";
