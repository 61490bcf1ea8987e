/** The contract of task stores, on every store that the runtime can open. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryStore } from "../../../src/stores/memory-store.ts";
import { SqliteStore } from "../../../src/stores/sqlite/index.ts";
import { defineTaskStoreContract } from "../../../src/stores/task-store.contract.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-runtime-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

defineTaskStoreContract("MemoryStore", () => new MemoryStore());
defineTaskStoreContract("SqliteStore", () => new SqliteStore(join(folder, `${++files}.db`)));
