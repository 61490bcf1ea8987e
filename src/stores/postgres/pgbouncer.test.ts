import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { warnAboutSkippedTests } from "../../../test/support/warn-about-skipped-tests.ts";
import { defineTaskStoreContract } from "../task-store.contract.ts";
import { aliceTestTaskScope } from "../task-event-logs.fixture.ts";
import { EmptyPostgresStore } from "./empty-postgres-store.fixture.ts";
import { findPgBouncer, startTestPgBouncer, type TestPgBouncer } from "./pgbouncer.fixture.ts";
import { runTestSql } from "./postgres-server.fixture.ts";

const program = findPgBouncer();
if (program === undefined) warnAboutSkippedTests("Tests with PgBouncer", "install the package pgbouncer.");
const { url, reason } =
  program === undefined ? { url: "", reason: "no PgBouncer" } : await findTestDatabase();

describe.skipIf(reason)("PostgreSQL behind PgBouncer in transaction mode", () => {
  let pooler: TestPgBouncer;

  beforeAll(async () => {
    pooler = await startTestPgBouncer(program ?? "", url);
  });

  afterAll(() => pooler.stop());

  const createStore = (): EmptyPostgresStore =>
    new EmptyPostgresStore(pooler.toPooledUrl(url), { poolSize: 4, preparedStatements: false }, url);

  it("runs the statements of one client on different connections", async () => {
    const store = createStore();
    await store.open();
    await Promise.all(Array.from({ length: 8 }, () => store.findMessage(aliceTestTaskScope, "m")));
    const rows = await runTestSql(
      url,
      "SELECT count(*)::int AS connections FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'colloquy'",
    );
    expect(rows).toEqual([{ connections: 2 }]);
    expect(store.readGauges().pool.open).toBe(4);
    await store.close();
  });

  defineTaskStoreContract("PostgresStore", createStore);
});
