/**
 * Tasks in one SQLite file, durable before anything is answered. It is written by one process at a time, through one
 * connection, with one transaction for all the appends that wait.
 */
export { SqliteStore } from "./sqlite-store.ts";
