import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StoreMigrationReport } from "../../engine/index.ts";
import { createTestFileOfFirstSchema } from "./earlier-file.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

const fakeDisk = vi.hoisted(() => ({ freeBytes: Infinity }));

vi.mock(import("node:fs"), async (original) => {
  const fs = await original();
  const statfsSync = (() => ({ bavail: fakeDisk.freeBytes, bsize: 1 })) as unknown as typeof fs.statfsSync;
  return { ...fs, statfsSync };
});
vi.mock(import("./schema.ts"), async (original) => {
  const { addTestSchemaSteps } = await import("./later-schema.fixture.ts");
  return { SCHEMA_STEPS: addTestSchemaSteps((await original()).SCHEMA_STEPS) };
});

const VERSION = 3;

describe("a file of an earlier version", () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-migration-"));
  let path: string;

  beforeEach(() => {
    path = join(folder, `${crypto.randomUUID()}.db`);
    createTestFileOfFirstSchema(path);
    withDatabase(path, (db) => db.exec("INSERT INTO turn (task, json) VALUES (1, '{}')"));
  });

  afterEach(() => {
    fakeDisk.freeBytes = Infinity;
    vi.restoreAllMocks();
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  function withDatabase<T>(file: string, work: (db: DatabaseSync) => T): T {
    const db = new DatabaseSync(file);
    try {
      return work(db);
    } finally {
      db.close();
    }
  }

  const readVersion = (file = path): unknown =>
    withDatabase(file, (db) => db.prepare("PRAGMA user_version").get()?.["user_version"]);
  const listFiles = (part: string): string[] => readdirSync(folder).filter((name) => name.includes(part));
  const readTables = (file = path): unknown =>
    withDatabase(file, (db) =>
      db.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name").all(),
    );

  async function openAndClose(
    file = path,
    options: ConstructorParameters<typeof SqliteStore>[1] = {},
  ): Promise<StoreMigrationReport[]> {
    const reports: StoreMigrationReport[] = [];
    const store = new SqliteStore(file, options);
    await store.open((report) => reports.push(report));
    await store.close();
    return reports;
  }

  it("gets the steps that it lacks, after a backup that the earlier version can open [E9]", async () => {
    const before = readTables();
    const backupFile = `${path}.schema-1.bak`;
    writeFileSync(`${backupFile}.incomplete`, "interrupted");
    const reports = await openAndClose();
    expect(reports.map(({ phase }) => phase)).toEqual(["backup", "done"]);
    expect(reports[0]).toMatchObject({ fromVersion: 1, toVersion: VERSION, backupFile });
    const newFile = join(folder, "new.db");
    await openAndClose(newFile);
    expect(readTables()).toEqual(readTables(newFile));
    expect(withDatabase(path, (db) => db.prepare("SELECT * FROM turn").all())).toEqual([
      { task: 1, json: "{}", note: null },
    ]);
    expect(readTables(backupFile)).toEqual(before);
    expect(readVersion(backupFile)).toBe(1);
    expect(listFiles("incomplete")).toEqual([]);
    expect(await openAndClose()).toEqual([]);
  });

  it("stays unchanged if a step fails, and can be migrated later", async () => {
    withDatabase(path, (db) => db.exec("CREATE TABLE added (own INTEGER)"));
    const before = readTables();
    await expect(openAndClose()).rejects.toThrow("added already exists");
    expect(readTables()).toEqual(before);
    expect(readVersion()).toBe(1);
    withDatabase(path, (db) => db.exec("DROP TABLE added"));
    await openAndClose();
    expect(readVersion()).toBe(VERSION);
  });

  it("is refused without room for the backup, and says what to do", async () => {
    fakeDisk.freeBytes = 1000;
    await expect(openAndClose()).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringMatching(
        /needs 0\.\d MB, but the disk has only 0 MB free\. Free some space, or .*run: colloquy store migrate --no-backup$/,
      ) as string,
    });
    expect(readVersion()).toBe(1);
    expect(listFiles(`${path.slice(folder.length + 1)}.schema`)).toEqual([]);
    await openAndClose(path, { backupBeforeMigration: false });
    expect(readVersion()).toBe(VERSION);
    expect(existsSync(`${path}.schema-1.bak`)).toBe(false);
  });

  it("reports a step when the last report is a second old", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 600));
    const reports = await openAndClose();
    expect(reports.map(({ phase, nextVersion }) => [phase, nextVersion])).toEqual([
      ["backup", undefined],
      ["step", 3],
      ["done", undefined],
    ]);
  });

  it("of a newer version is refused, and stays unchanged", async () => {
    withDatabase(path, (db) => db.exec("PRAGMA user_version = 99"));
    await expect(openAndClose()).rejects.toThrow(
      `${path} was written by a newer version of Colloquy (schema 99, this one knows ${VERSION}); upgrade Colloquy or choose another file.`,
    );
    expect(readVersion()).toBe(99);
    expect(listFiles("schema-99")).toEqual([]);
  });

  it("of a version before the first release is refused, with the command that starts with an empty store", async () => {
    withDatabase(path, (db) => db.exec("PRAGMA application_id = 0; PRAGMA user_version = 11"));
    await expect(openAndClose()).rejects.toThrow(
      `${path} was written by a version of Colloquy before the first release, which no later version can read. To start with an empty store, move the file away: mv ${path} ${path}.old.`,
    );
    expect(readVersion()).toBe(11);
  });
});
