import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import {
  aliceTestTaskScope,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("the gauges of the PostgreSQL store", () => {
  let store: PostgresStore;

  beforeEach(async () => {
    // The probe of the hints uses a connection of the pool.
    store = new PostgresStore(url, { poolSize: 2, leaseMs: 60_000, hints: false });
    await store.open();
  });

  afterEach(() => store.close());

  it("count connections, and statements that wait for a connection", async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("BEGIN; LOCK TABLE colloquy.task");
    const loads = Array.from({ length: 5 }, (_, at) => store.load(aliceTestTaskScope, `t${at}`));
    await expect.poll(() => store.readGauges().pool).toEqual({ max: 2, open: 2, busy: 2, waiting: 3 });
    await client.end();
    await Promise.all(loads);
    expect(store.readGauges().pool).toEqual({ max: 2, open: 2, busy: 0, waiting: 0 });
    await store.close();
    expect(store.readGauges().pool).toEqual({ max: 2, open: 0, busy: 0, waiting: 0 });
  });

  it("count held leases, claims, commits, and events", async () => {
    const begin = (taskId: string, hasRunningTurn: boolean): Promise<unknown> =>
      store.commit([
        createTestLogAppend(taskId, 0, [createTestSubmittedTaskEvent(taskId)], { hasRunningTurn }),
      ]);
    await begin("a", true);
    await begin("b", false);
    const { leases, commits } = store.readGauges();
    expect(leases).toMatchObject({ held: 1, durationMs: 60_000, claimed: 0 });
    expect(commits).toMatchObject({ succeeded: 2, failed: 0, events: 2 });
    expect(commits.p50Ms).toBeGreaterThan(0);
    expect(commits.p99Ms).toBeGreaterThanOrEqual(commits.p50Ms);
    await runTestSql(url, "UPDATE colloquy.task SET lease_node = NULL");
    await store.turns.claim(aliceTestTaskScope.agent, 10);
    expect(store.readGauges().leases).toMatchObject({ held: 1, claimed: 1 });
  });

  it("count the turns that wait for a node, at each renewal", async () => {
    await store.commit([
      createTestLogAppend("waits", 0, [createTestSubmittedTaskEvent("waits")], { hasRunningTurn: true }),
    ]);
    await store.turns.renew();
    const before = store.readGauges().leases.waiting;
    await runTestSql(
      url,
      "UPDATE colloquy.task SET lease_node = NULL, wake_at = '-infinity' WHERE task_id LIKE '%waits'",
    );
    await store.turns.renew();
    expect(store.readGauges().leases.waiting).toBe(before + 1);
    await runTestSql(
      url,
      "UPDATE colloquy.task SET wake_at = now() + interval '1 hour' WHERE task_id LIKE '%waits'",
    );
    await store.turns.renew();
    expect(store.readGauges().leases.waiting).toBe(before);
  });

  it("measure the time since the leases were renewed", async () => {
    const start = performance.now();
    await store.turns.renew();
    expect(store.readGauges().leases.sinceRenewalMs).toBeLessThanOrEqual(performance.now() - start);
  });
});
