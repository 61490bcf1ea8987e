/**
 * Stores tasks in one SQLite file. Every commit is durable before it is acknowledged. One process at a time
 * writes the file, through one connection, with one transaction for all waiting appends.
 */
export { SqliteStore } from "./sqlite-store.ts";
