/** Stores that released versions and this version have written. A step of a later version follows each of them. */
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as adapters from "../../src/agents/adapters/index.ts";
import type { StoreMigrationReport } from "../../src/engine/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { SqliteStore } from "../../src/stores/index.ts";
import { dumpDatabase, readSchema } from "../support/dump-database.ts";
import {
  callEarlierStoreAgent,
  createEarlierStoreAgents,
  EARLIER_STORE_SERVER_OPTIONS,
  readEarlierStoreResponses,
} from "../support/earlier-store-agents.ts";
import { getScriptArguments } from "../support/fork-script.ts";
import { createTempFolder } from "../support/store-factories.ts";

vi.mock(import("../../src/stores/sqlite/schema.ts"), async (original) => {
  const { addTestSchemaSteps } = await import("../../src/stores/sqlite/later-schema.fixture.ts");
  return { SCHEMA_STEPS: addTestSchemaSteps((await original()).SCHEMA_STEPS) };
});

const VECTORS = fileURLToPath(new URL("../vectors/earlier-stores/", import.meta.url));
const RELEASES = readdirSync(VECTORS).flatMap((name) => /^store-of-(.*)\.json$/.exec(name)?.[1] ?? []);
const THIS_VERSION = "this-version";

let ownVectors: Awaited<ReturnType<typeof createTempFolder>>;
let folder: string;
let file: string;
let cleanUp: (() => Promise<void>)[] = [];

beforeAll(async () => {
  ownVectors = await createTempFolder();
  const script = getScriptArguments(new URL("../vectors/earlier-stores/create-store.ts", import.meta.url));
  const checkout = fileURLToPath(new URL("../../", import.meta.url));
  spawnSync(process.execPath, [...script, checkout, THIS_VERSION, ownVectors.folder], { stdio: "inherit" });
});

afterAll(() => ownVectors.remove());

beforeEach(async () => {
  const temp = await createTempFolder();
  folder = temp.folder;
  file = join(folder, "tasks.db");
  cleanUp = [temp.remove];
});

afterEach(async () => {
  for (const action of cleanUp.toReversed()) await action();
});

const findVector = (version: string, extension: string): string =>
  join(version === THIS_VERSION ? ownVectors.folder : VECTORS, `store-of-${version}.${extension}`);

/** Creates the store of a version, and returns its dump. */
function createStoreOf(version: string): string {
  copyFileSync(findVector(version, "key.txt"), `${file}.key`);
  return withDatabase(file, (db) => {
    db.exec(readFileSync(findVector(version, "sql"), "utf8"));
    return dumpDatabase(db);
  });
}

function withDatabase<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function createTestServer(reports: StoreMigrationReport[] = []): Server {
  const server = createServer(createEarlierStoreAgents(adapters), {
    ...EARLIER_STORE_SERVER_OPTIONS,
    store: `sqlite:${file}`,
    observer: { onStoreMigration: (report) => reports.push(report) },
  });
  cleanUp.push(() => server.close({ graceMs: 0 }));
  return server;
}

describe.each([...RELEASES, THIS_VERSION])("a store of version %s", (version) => {
  it("answers as before, and its tasks continue [E9]", async () => {
    createStoreOf(version);
    const { agents } = await createTestServer().listen();
    const urls = Object.fromEntries(agents.map(({ id, url }) => [id, url]));
    const expected = JSON.parse(readFileSync(findVector(version, "json"), "utf8")) as Record<string, unknown>;
    expect(await readEarlierStoreResponses(urls)).toEqual(expected);
    const { ask = "", echo = "", hang = "" } = urls;
    const waiting = (await callEarlierStoreAgent(ask, "alice", "ListTasks", {
      status: "TASK_STATE_INPUT_REQUIRED",
    })) as { tasks: { id: string }[] };
    const message = { role: "ROLE_USER", parts: [{ text: "three" }] };
    const answer = await callEarlierStoreAgent(ask, "alice", "SendMessage", {
      message: { ...message, messageId: "later", taskId: waiting.tasks[0]?.id },
    });
    expect(answer).toMatchObject({ task: { status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
    const repeated = await callEarlierStoreAgent(echo, "bob", "SendMessage", {
      message: { ...message, parts: [{ text: "hello 0" }], messageId: "bob-0" },
    });
    const before = expected["echo of bob"] as { tasks: { id: string }[] };
    expect(before.tasks.map(({ id }) => id)).toContain((repeated as { task: { id: string } }).task.id);
    // The turns that ran when the process was killed end.
    const hanging = (await callEarlierStoreAgent(hang, "bob", "ListTasks", {})) as { tasks: object[] };
    expect(hanging.tasks).toMatchObject([{ status: { state: "TASK_STATE_FAILED" } }]);
  });

  it("has the schema of a new store, a backup for the earlier version, and a report for the observer", async () => {
    const dump = createStoreOf(version);
    const reports: StoreMigrationReport[] = [];
    await createTestServer(reports).listen();
    const newFile = join(folder, "new.db");
    const newStore = new SqliteStore(newFile);
    await newStore.open();
    await newStore.close();
    expect(withDatabase(file, readSchema)).toEqual(withDatabase(newFile, readSchema));
    const [{ backupFile = "" } = {}] = reports;
    expect(reports.map(({ phase }) => phase)).toEqual(["backup", "done"]);
    expect(withDatabase(backupFile, dumpDatabase)).toBe(dump);
  });
});
