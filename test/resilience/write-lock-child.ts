/** A program of another vendor: it holds the write lock of the given SQLite file for the given milliseconds. */
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";

const [file = "", ms = "0"] = process.argv.slice(2);

const db = new DatabaseSync(file, { timeout: 10_000 });
db.exec("BEGIN IMMEDIATE");
process.send?.("locked");
await setTimeout(Number(ms));
db.exec("ROLLBACK");
process.exit(0);
