/** The task stores that need no Node.js, for browsers and workers. */
export { MemoryStore, type MemoryStoreOptions } from "../memory-store.ts";
