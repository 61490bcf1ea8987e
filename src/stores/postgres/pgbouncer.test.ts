import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { isLongRun } from "../../../test/support/count-runs.ts";
import { warnAboutSkippedTests } from "../../../test/support/warn-about-skipped-tests.ts";
import { defineTaskStoreContract } from "../task-store.contract.ts";
import { aliceTestTaskScope } from "../task-event-logs.fixture.ts";
import { EmptyPostgresStore } from "./empty-postgres-store.fixture.ts";
import { findPgBouncer, startTestPgBouncer, type TestPgBouncer } from "./pgbouncer.fixture.ts";

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

  async function connectToPooler(): Promise<Client> {
    const client = new Client({ connectionString: pooler.toPooledUrl(url) });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  const createStore = (): EmptyPostgresStore =>
    new EmptyPostgresStore(pooler.toPooledUrl(url), { poolSize: 4, preparedStatements: false }, url);

  it("runs the statements of one client on different connections", async () => {
    const [one, other] = await Promise.all([connectToPooler(), connectToPooler()]);
    const readConnectionId = async (): Promise<number> =>
      Number((await one.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid);
    // An open transaction keeps one of the two connections from all other clients.
    await other.query("BEGIN");
    const first = await readConnectionId();
    await other.query("COMMIT");
    // PgBouncer reuses the connection that became idle last.
    expect(await readConnectionId()).not.toBe(first);
    const store = createStore();
    onTestFinished(() => store.close());
    await store.open();
    await Promise.all(Array.from({ length: 8 }, () => store.findMessage(aliceTestTaskScope, "m")));
    expect(store.readGauges().pool.open).toBe(4);
  });

  it("notice that no hints arrive, poll, and report it once [E17]", async () => {
    const store = createStore();
    onTestFinished(() => store.close());
    await store.open();
    const changes: boolean[] = [];
    store.nodes.hints?.onHint(() => changes.push(store.nodes.hints?.isReceiving ?? false));
    const reason = await new Promise<string>((resolve) => store.nodes.hints?.onUnsupported?.(resolve));
    expect(reason).toContain("pooler in transaction mode");
    expect(changes).toEqual([]);
  });

  // The contract takes 12 s of CPU time. `npm test` runs it on a direct connection.
  if (isLongRun) defineTaskStoreContract("PostgresStore", createStore);
});
