/** Stores tasks in the SQLite database of a Cloudflare Durable Object, with the tables of the SQLite store. */
export type { DurableObjectStorage } from "./durable-object-storage.ts";
export { DurableObjectStore, type DurableObjectStoreOptions } from "./durable-object-store.ts";
