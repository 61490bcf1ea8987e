/** The contract of task stores, on every store that the runtime can open. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MemoryStore } from "../../../src/stores/memory-store.ts";
import { SqliteStore } from "../../../src/stores/sqlite/index.ts";
import { defineTaskStoreContract } from "../../../src/stores/task-store.contract.ts";
import { skipTests } from "../portable-vitest.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-runtime-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

defineTaskStoreContract("MemoryStore", () => new MemoryStore());
defineTaskStoreContract("SqliteStore", () => new SqliteStore(join(folder, `${++files}.db`)));
if (!hasFts5()) skipTests("SqliteStore as a task store > a text index");

/** Returns whether the SQLite of the runtime has the full-text search that text indexes need. */
function hasFts5(): boolean {
  const database = new DatabaseSync(":memory:");
  const module = database.prepare("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").get();
  database.close();
  return module !== undefined;
}
