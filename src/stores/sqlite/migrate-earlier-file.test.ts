import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StoreMigrationReport } from "../../engine/index.ts";
import { migrateSchema, readSchemaVersion, SCHEMA_VERSION } from "./schema.ts";
import { SqliteStore } from "./sqlite-store.ts";

const fakeDisk = vi.hoisted(() => ({ freeBytes: Infinity }));

vi.mock(import("node:fs"), async (original) => {
  const fs = await original();
  const statfsSync = (() => ({ bavail: fakeDisk.freeBytes, bsize: 1 })) as unknown as typeof fs.statfsSync;
  return { ...fs, statfsSync };
});

describe("the migration of a file of an earlier version", () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-migration-"));
  let path: string;

  beforeEach(() => {
    path = join(folder, `${crypto.randomUUID()}.db`);
    const db = new DatabaseSync(path);
    migrateSchema(db, path, 3);
    db.close();
  });

  afterEach(() => {
    fakeDisk.freeBytes = Infinity;
    vi.restoreAllMocks();
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  function readVersion(): number {
    const db = new DatabaseSync(path);
    try {
      return readSchemaVersion(db);
    } finally {
      db.close();
    }
  }

  it("is refused without room for the backup, and says what to do", async () => {
    fakeDisk.freeBytes = 1000;
    await expect(new SqliteStore(path).open()).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringMatching(
        /needs 0\.\d MB, but the disk has only 0 MB free\. Free some space, or .*run: colloquy store migrate --no-backup$/,
      ) as string,
    });
    expect(readVersion()).toBe(3);
    expect(readdirSync(folder).filter((name) => name.includes(".bak"))).toEqual([]);
    const store = new SqliteStore(path, { backupBeforeMigration: false });
    await store.open();
    await store.close();
    expect(readVersion()).toBe(SCHEMA_VERSION);
  });

  it("reports a step when the last report is a second old", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 400));
    const reports: StoreMigrationReport[] = [];
    const store = new SqliteStore(path);
    await store.open((report) => reports.push(report));
    await store.close();
    const steps = reports.filter(({ phase }) => phase === "step");
    expect(reports.map(({ phase }) => phase)).toEqual(["backup", ...steps.map(() => "step"), "done"]);
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThan(SCHEMA_VERSION - 3);
    expect(steps.at(-1)?.nextVersion).toBeLessThanOrEqual(SCHEMA_VERSION);
    expect(steps.every(({ elapsedMs }, at) => elapsedMs >= (at + 1) * 1000)).toBe(true);
  });
});
