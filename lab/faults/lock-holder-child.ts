/** Another program that holds SQLite's write lock on the given file until it is killed. */
import { setTimeout } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";

const [file = ""] = process.argv.slice(2);
const db = new DatabaseSync(file, { timeout: 60_000 });
db.exec("BEGIN IMMEDIATE");
process.send?.("locked");
await setTimeout(600_000);
db.close();
