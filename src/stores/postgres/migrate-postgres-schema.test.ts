import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { planPostgresMigration, POSTGRES_SCHEMA_VERSION } from "./migrate-postgres-schema.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";
import { CREATE_VERSION_TABLE_SQL, POSTGRES_SCHEMA_STEPS } from "./schema.ts";

const ADD_COLUMN_SQL = vi.hoisted(
  () => "ALTER TABLE colloquy.deleted_task ADD COLUMN note text NOT NULL DEFAULT 'new';",
);

vi.mock(import("./schema.ts"), async (original) => {
  const schema = await original();
  return { ...schema, POSTGRES_SCHEMA_STEPS: [...schema.POSTGRES_SCHEMA_STEPS, ADD_COLUMN_SQL] };
});

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("the schema of a PostgreSQL database", () => {
  beforeEach(() => runTestSql(url, "DROP SCHEMA IF EXISTS colloquy CASCADE"));

  async function openAndClose(options = {}): Promise<void> {
    const store = new PostgresStore(url, options);
    await store.open();
    await store.close();
  }

  const readVersions = (): Promise<unknown> => runTestSql(url, "SELECT version FROM colloquy.schema_state");

  it("is created once by stores that start at the same time", async () => {
    await Promise.all(Array.from({ length: 6 }, () => openAndClose()));
    expect(await readVersions()).toEqual([{ version: POSTGRES_SCHEMA_VERSION }]);
  });

  it("can be created by the printed script", async () => {
    const plan = await planPostgresMigration(url);
    expect(plan).toMatchObject({ fromVersion: 0, toVersion: POSTGRES_SCHEMA_VERSION });
    await runTestSql(url, plan.script ?? "");
    await openAndClose({ migrate: false });
    expect((await planPostgresMigration(url)).script).toBeUndefined();
  });

  it("is not created by a store that must not migrate", async () => {
    await expect(openAndClose({ migrate: false })).rejects.toThrow("run colloquy store migrate");
  });

  it("of an earlier version gets the steps that it lacks, and keeps its tasks", async () => {
    await runTestSql(
      url,
      `${CREATE_VERSION_TABLE_SQL} ${POSTGRES_SCHEMA_STEPS[0]}
      INSERT INTO colloquy.schema_state (version) VALUES (1);
      INSERT INTO colloquy.deleted_task (key) VALUES (7)`,
    );
    const plan = await planPostgresMigration(url);
    expect(plan).toMatchObject({ fromVersion: 1, toVersion: 2 });
    expect(plan.script).toContain(ADD_COLUMN_SQL);
    await expect(openAndClose({ migrate: false })).rejects.toThrow(
      "has schema 1, and this version of Colloquy needs schema 2; run colloquy store migrate",
    );
    const phases: string[] = [];
    const store = new PostgresStore(url);
    await store.open(({ phase }) => phases.push(phase));
    await store.close();
    expect(phases).toEqual(["step", "done"]);
    expect(await runTestSql(url, "SELECT key, note FROM colloquy.deleted_task")).toEqual([
      { key: "7", note: "new" },
    ]);
    expect(await readVersions()).toEqual([{ version: 2 }]);
  });

  it.each([
    ["CREATE SCHEMA colloquy; CREATE TABLE colloquy.schema_version (version integer)"],
    ["CREATE SCHEMA colloquy; CREATE TABLE colloquy.store_version (version integer)"],
  ])(
    "of a version before the first release is refused, with the statement that deletes it",
    async (script) => {
      await runTestSql(url, script);
      await expect(openAndClose()).rejects.toThrow(
        "The database was written by a version of Colloquy before the first release, which no later version can read. To start with an empty store, run DROP SCHEMA colloquy CASCADE.",
      );
      await runTestSql(url, "DROP SCHEMA colloquy CASCADE");
      await openAndClose();
    },
  );

  it("needs the privilege CREATE on the database, which the error names", async () => {
    const user = `plain_${randomUUID().replaceAll("-", "")}`;
    await runTestSql(url, `CREATE ROLE ${user} LOGIN`);
    const store = new PostgresStore(Object.assign(new URL(url), { username: user }).href);
    await expect(store.open()).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringContaining("GRANT CREATE ON DATABASE name TO user") as string,
    });
    await runTestSql(url, `DROP ROLE ${user}`);
  });

  it("is no schema of an earlier version for a user without privileges on its tables", async () => {
    await openAndClose();
    const user = `plain_${randomUUID().replaceAll("-", "")}`;
    await runTestSql(url, `CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA colloquy TO ${user}`);
    const store = new PostgresStore(Object.assign(new URL(url), { username: user }).href);
    try {
      await expect(store.open()).rejects.toThrow("the user lacks a privilege");
    } finally {
      await runTestSql(url, `REVOKE USAGE ON SCHEMA colloquy FROM ${user}; DROP ROLE ${user}`);
    }
  });

  it("of a newer version of Colloquy is refused", async () => {
    await openAndClose();
    await runTestSql(url, "UPDATE colloquy.schema_state SET version = 99");
    await expect(openAndClose()).rejects.toThrow("was migrated by a newer version of Colloquy (schema 99");
  });
});
