/** Stores that earlier commits have written, opened by this version. A later schema needs no change here. */
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as adapters from "../../src/adapters/index.ts";
import type { StoreMigrationReport } from "../../src/engine/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { SqliteStore } from "../../src/stores/index.ts";
import { SCHEMA_VERSION } from "../../src/stores/sqlite/schema.ts";
import { dumpDatabase, readSchema } from "../support/dump-database.ts";
import {
  callEarlierStoreAgent,
  createEarlierStoreAgents,
  EARLIER_STORE_SERVER_OPTIONS,
  readEarlierStoreResponses,
} from "../support/earlier-store-agents.ts";
import { createTempFolder } from "../support/store-factories.ts";

const VECTORS = new URL("../vectors/earlier-stores/", import.meta.url);
const COMMITS = readdirSync(VECTORS).flatMap((name) => /^store-of-(.*)\.json$/.exec(name)?.[1] ?? []);

let folder: string;
let file: string;
let cleanUp: (() => Promise<void>)[] = [];

beforeEach(async () => {
  const temp = await createTempFolder();
  folder = temp.folder;
  file = join(folder, "tasks.db");
  cleanUp = [temp.remove];
});

afterEach(async () => {
  for (const action of cleanUp.toReversed()) await action();
});

/** Creates the store of an earlier commit, and returns its dump and its schema version. */
function createStoreOfCommit(commit: string): { dump: string; version: number } {
  const keyFile = new URL(`store-of-${commit}.key.txt`, VECTORS);
  if (existsSync(keyFile)) copyFileSync(keyFile, `${file}.key`);
  return withDatabase(file, (db) => {
    db.exec(readFileSync(new URL(`store-of-${commit}.sql`, VECTORS), "utf8"));
    return { dump: dumpDatabase(db), version: readVersion(db) };
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

/** Removes the reports that only a migration of more than a second has. */
const withoutSteps = (reports: StoreMigrationReport[]): StoreMigrationReport[] =>
  reports.filter(({ phase }) => phase !== "step");
const readVersion = (db: DatabaseSync): number =>
  db.prepare("PRAGMA user_version").get()?.["user_version"] as number;
const dumpFile = (path: string): string => withDatabase(path, dumpDatabase);

function createTestServer(reports: StoreMigrationReport[] = []): Server {
  const server = createServer(createEarlierStoreAgents(adapters), {
    ...EARLIER_STORE_SERVER_OPTIONS,
    store: `sqlite:${file}`,
    observer: { onStoreMigration: (report) => reports.push(report) },
  });
  cleanUp.push(() => server.close({ graceMs: 0 }));
  return server;
}

async function listen(server: Server): Promise<Record<string, string>> {
  const { agents } = await server.listen();
  return Object.fromEntries(agents.map(({ id, url }) => [id, url]));
}

describe.each(COMMITS)("a store of commit %s", (commit) => {
  it("answers as before, and its tasks continue [E9]", async () => {
    createStoreOfCommit(commit);
    const urls = await listen(createTestServer());
    const expected = JSON.parse(readFileSync(new URL(`store-of-${commit}.json`, VECTORS), "utf8")) as Record<
      string,
      unknown
    >;
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

  it("has the schema of a new store, and a backup for the earlier version", async () => {
    const { dump, version } = createStoreOfCommit(commit);
    const reports: StoreMigrationReport[] = [];
    const store = new SqliteStore(file);
    await store.open((report) => reports.push(report));
    await store.close();
    const newFile = join(folder, "new.db");
    const newStore = new SqliteStore(newFile);
    await newStore.open();
    await newStore.close();
    expect(withDatabase(file, readSchema)).toEqual(withDatabase(newFile, readSchema));
    expect(withDatabase(file, readVersion)).toBe(SCHEMA_VERSION);
    const backupFile = `${file}.schema-${version}.bak`;
    const isEarlier = version < SCHEMA_VERSION;
    expect(withoutSteps(reports).map(({ phase }) => phase)).toEqual(isEarlier ? ["backup", "done"] : []);
    expect(existsSync(backupFile)).toBe(isEarlier);
    if (!isEarlier) return;
    expect(reports[0]).toMatchObject({ fromVersion: version, toVersion: SCHEMA_VERSION, backupFile });
    expect(dumpFile(backupFile)).toBe(dump);
  });

  it("is refused by an earlier version, and stays unchanged", async () => {
    createStoreOfCommit(commit);
    withDatabase(file, (db) => db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`));
    const dump = dumpFile(file);
    await expect(createTestServer().listen()).rejects.toThrow(
      `${file} was written by a newer version of Colloquy (schema ${SCHEMA_VERSION + 1}, this one knows ${SCHEMA_VERSION}); upgrade Colloquy or choose another file.`,
    );
    expect(dumpFile(file)).toBe(dump);
    expect(readdirSync(folder).filter((name) => name.includes(".bak"))).toEqual([]);
  });
});

describe("a migration", () => {
  // The earliest schema, so that the migration has all steps.
  const commit = "a0b58a1";

  it("that fails leaves the store unchanged, and can be repeated", async () => {
    const { dump, version } = createStoreOfCommit(commit);
    // The fifth step creates a table with this name.
    withDatabase(file, (db) => db.exec("CREATE TABLE deleted_task (own INTEGER)"));
    const changedDump = dumpFile(file);
    const store = new SqliteStore(file);
    await expect(store.open()).rejects.toThrow("deleted_task already exists");
    expect(dumpFile(file)).toBe(changedDump);
    withDatabase(file, (db) => db.exec("DROP TABLE deleted_task"));
    writeFileSync(`${file}.schema-${version}.bak.incomplete`, "interrupted");
    await store.open();
    await store.close();
    expect(dumpFile(`${file}.schema-${version}.bak`)).toBe(dump);
    expect(readdirSync(folder).filter((name) => name.includes("incomplete"))).toEqual([]);
  });

  it("reports its progress to the observer of the server", async () => {
    const { version } = createStoreOfCommit(commit);
    const reports: StoreMigrationReport[] = [];
    await createTestServer(reports).listen();
    const common = {
      store: `sqlite:${file}`,
      fromVersion: version,
      toVersion: SCHEMA_VERSION,
      backupFile: `${file}.schema-${version}.bak`,
      bytes: expect.any(Number) as number,
      elapsedMs: expect.any(Number) as number,
    };
    expect(withoutSteps(reports)).toEqual([
      { ...common, phase: "backup" },
      { ...common, phase: "done" },
    ]);
  });

  it("makes no backup with the option backupBeforeMigration: false", async () => {
    createStoreOfCommit(commit);
    const store = new SqliteStore(file, { backupBeforeMigration: false });
    await store.open();
    await store.close();
    expect(withDatabase(file, readVersion)).toBe(SCHEMA_VERSION);
    expect(readdirSync(folder).filter((name) => name.includes(".bak"))).toEqual([]);
  });
});
