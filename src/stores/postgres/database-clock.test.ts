import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { createTestLogAppend, createTestSubmittedTaskEvent } from "../task-event-logs.fixture.ts";
import { PostgresPool, type PostgresConnection } from "./postgres-pool.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";
import { DEFAULT_POSTGRES_OPTIONS } from "./postgres-store-options.ts";
import { PostgresTaskLeases } from "./postgres-task-leases.ts";
import { DELETE_SILENT_NODES } from "./statements/leases.ts";

const { url, reason } = await findTestDatabase();
/** The connections use this clock instead of the clock of PostgreSQL. */
const shiftedUrl = `${url}?options=${encodeURIComponent("-c search_path=shifted_clock,pg_catalog")}`;
const LEASE_MS = 10_000;

describe.skipIf(reason)("the leases of nodes whose database sets its clock", () => {
  let store: PostgresStore;
  let pool: PostgresPool;
  let watcher: PostgresTaskLeases;
  let taskId: string;
  /** Monotonic time of the watching node in milliseconds. */
  let time = 0;

  const setClock = (shift: string): Promise<unknown> =>
    runTestSql(
      url,
      `CREATE OR REPLACE FUNCTION shifted_clock.now() RETURNS timestamptz LANGUAGE sql
         AS $$ SELECT pg_catalog.now() + interval '${shift}' $$;
       CREATE OR REPLACE FUNCTION shifted_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql
         AS $$ SELECT pg_catalog.clock_timestamp() + interval '${shift}' $$`,
    );

  beforeAll(async () => {
    await runTestSql(url, "CREATE SCHEMA shifted_clock");
    await setClock("0");
    pool = await PostgresPool.create({ url: shiftedUrl, size: 2, ...DEFAULT_POSTGRES_OPTIONS });
  });
  afterAll(() => pool.close());

  beforeEach(async () => {
    taskId = randomUUID();
    await setClock("0");
    store = new PostgresStore(shiftedUrl);
    await store.open();
    await runTestSql(url, "TRUNCATE colloquy.task CASCADE");
    const events = [createTestSubmittedTaskEvent(taskId)];
    await store.commit([createTestLogAppend(taskId, 0, events, { hasRunningTurn: true })]);
    watcher = new PostgresTaskLeases(pool, LEASE_MS, () => time);
    await watcher.renew();
  });
  afterEach(async () => {
    await watcher.end();
    await store.close();
  });

  /** Lets time pass for the watching node, which then renews its leases and claims the tasks of dead nodes. */
  async function claimAfter(ms: number): Promise<string[]> {
    time += ms;
    await watcher.renew();
    return (await watcher.claim("echo", 10, "lost")).map((claimed) => claimed.taskId);
  }

  it.each(["10 minutes", "-10 minutes"])("survive a shift by %s [E11, E21]", async (shift) => {
    await setClock(shift);
    for (let renewal = 0; renewal < 3; renewal++) {
      expect(await claimAfter(LEASE_MS / 2)).toEqual([]);
      await store.turns.renew();
    }
  });

  it.each(["0", "-10 minutes"])(
    "end after a lease without a renewal, with a shift of %s [E9, E21]",
    async (shift) => {
      await setClock(shift);
      expect(await claimAfter(LEASE_MS - 1)).toEqual([]);
      expect(await claimAfter(1)).toEqual([taskId]);
    },
  );

  it("end for a new node only after this node has watched them for a lease [E11, E21]", async () => {
    time += 10 * LEASE_MS;
    const newcomer = new PostgresTaskLeases(pool, LEASE_MS, () => time);
    await newcomer.renew();
    expect(await newcomer.claim("echo", 10, "lost")).toEqual([]);
    await newcomer.end();
    expect(await claimAfter(0)).toEqual([taskId]);
  });

  it("continue after a renewal that crosses the end of the silence [E11, E21]", async () => {
    const connection: PostgresConnection = {
      query: async (statement, parameters) => {
        if (statement.name === DELETE_SILENT_NODES.name) await store.turns.renew();
        return await pool.query(statement, parameters);
      },
    };
    const slowWatcher = new PostgresTaskLeases(connection, LEASE_MS, () => time);
    await slowWatcher.renew();
    time += LEASE_MS;
    await slowWatcher.renew();
    expect(await slowWatcher.claim("echo", 10, "lost")).toEqual([]);
    await slowWatcher.end();
  });

  it("of a turn that begins after a silence belong to a registered node [E11, E21]", async () => {
    const stalled = new PostgresTaskLeases(pool, LEASE_MS, () => time);
    const stall = async (): Promise<void> => {
      await stalled.renew();
      time += LEASE_MS;
      await runTestSql(url, `DELETE FROM colloquy.node WHERE id = '${stalled.node}'`);
    };
    await runTestSql(url, "UPDATE colloquy.task SET lease_node = NULL");
    await stall();
    expect(await stalled.claim("echo", 10, "waiting")).toMatchObject([{ taskId }]);
    expect(await store.turns.claim("echo", 10, "lost")).toEqual([]);
    await stall();
    const events = [createTestSubmittedTaskEvent("next")];
    let nodes: unknown[] = [];
    await stalled.recordCommit(
      [createTestLogAppend("next", 0, events, { hasRunningTurn: true })],
      async () => {
        nodes = await runTestSql(url, `SELECT id FROM colloquy.node WHERE id = '${stalled.node}'`);
        return [undefined];
      },
    );
    expect(nodes).toEqual([{ id: stalled.node }]);
    await stalled.end();
  });

  it("do not end because the watching node was frozen [E11, E21]", async () => {
    await store.turns.renew();
    expect(await claimAfter(10 * LEASE_MS)).toEqual([]);
    expect(await claimAfter(LEASE_MS - 1)).toEqual([]);
  });
});
