import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { storeContract } from "../store.contract.ts";
import { SqliteStore } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

storeContract("SqliteStore", () => new SqliteStore(join(folder, `${++files}.db`)));
