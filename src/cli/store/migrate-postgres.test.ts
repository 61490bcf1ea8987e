import { describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { runTestSql } from "../../stores/postgres/postgres-server.fixture.ts";
import { runCliInTestProcess } from "../cli-test-process.fixture.ts";

const { url, reason } = await findTestDatabase();
const PASSWORD = "s3cret-password";

describe.skipIf(reason)("colloquy store migrate with a PostgreSQL database", () => {
  const store = reason ? "" : Object.assign(new URL(url), { password: PASSWORD }).href;
  const name = `postgres://${reason ? "" : new URL(url).host}${reason ? "" : new URL(url).pathname}`;

  it("prints the SQL without a change, migrates once, and never prints the password", async () => {
    const printed = await runCliInTestProcess(["store", "migrate", "--print", "--store", store]);
    expect(printed.out).toContain("CREATE TABLE colloquy.task (");
    const tables = "SELECT 1 FROM pg_tables WHERE schemaname = 'colloquy'";
    expect(await runTestSql(url, tables)).toEqual([]);
    const first = await runCliInTestProcess(["store", "migrate", "--store", store, "-o", "json"]);
    expect(JSON.parse(first.out)).toEqual({ store: name, migrated: true, fromVersion: 0, toVersion: 1 });
    const second = await runCliInTestProcess(["store", "migrate", "--store", store, "-o", "json"]);
    expect(JSON.parse(second.out)).toMatchObject({ store: name, migrated: false });
    const current = await runCliInTestProcess(["store", "migrate", "--print", "--store", store]);
    expect(current.out).toBe("-- The store is current.\n");
    for (const { out, err } of [printed, first, second, current]) expect(out + err).not.toContain(PASSWORD);
  });

  it.each([
    [["info"], "psql"],
    [["sweep"], "sweeps the database"],
    [["compact"], "autovacuum"],
    [["backup", "copy.db"], "pg_dump"],
    [["erase", "--task", "t"], "server.maintenance.eraseTasks"],
  ])("is the only maintenance command for a database: %j names another way", async (args, remedy) => {
    const { code, err } = await runCliInTestProcess(["store", ...args, "--store", store]);
    expect(code).toBe(2);
    expect(err).toContain("This command maintains only SQLite files");
    expect(err).toContain(remedy);
    expect(err).not.toContain(PASSWORD);
  });

  it("names both kinds of stores if the store is neither", async () => {
    const { code, err } = await runCliInTestProcess(["store", "migrate", "--store", "mysql://a/b"]);
    expect(code).toBe(2);
    expect(err).toContain("Pass --store sqlite:FILE or postgres://USER@HOST/DATABASE.");
  });
});
