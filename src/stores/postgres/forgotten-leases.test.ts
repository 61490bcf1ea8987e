import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { createTestLogAppend, createTestSubmittedTaskEvent } from "../task-event-logs.fixture.ts";
import { DEFAULT_POSTGRES_OPTIONS } from "./postgres-store-options.ts";
import { PostgresPool, type PostgresConnection } from "./postgres-pool.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";
import { PostgresTaskLeases } from "./postgres-task-leases.ts";
import { CLAIM_TASKS, FIND_FORGOTTEN_LEASES } from "./statements/leases.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("a lease whose node does not know it", () => {
  let store: PostgresStore;
  let pool: PostgresPool;

  beforeAll(async () => {
    store = new PostgresStore(url);
    await store.open();
    pool = await PostgresPool.create({ url, size: 2, ...DEFAULT_POSTGRES_OPTIONS });
  });

  afterAll(async () => {
    await pool.close();
    await store.close();
  });

  beforeEach(() => runTestSql(url, "TRUNCATE colloquy.task CASCADE"));

  const beginTurn = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")], {
    hasRunningTurn: true,
  });

  /** Makes the turn of the task a turn of a dead node. */
  const orphanTurn = (): Promise<unknown> => runTestSql(url, "UPDATE colloquy.task SET lease_node = NULL");

  /** A connection that loses the results of claims. */
  const connectionWithoutClaims: PostgresConnection = {
    query: async (statement, parameters) => {
      const rows = await pool.query(statement, parameters);
      if (statement.name === CLAIM_TASKS.name) throw new Error("Query read timeout");
      return rows;
    },
  };

  it("is released by the second renewal that finds it, and another node recovers the task [E17, E21]", async () => {
    await store.commit([beginTurn]);
    await orphanTurn();
    const leases = new PostgresTaskLeases(connectionWithoutClaims, 15_000);
    await leases.renew();
    await expect(leases.claim("echo", 10)).rejects.toThrow("timeout");
    await leases.renew();
    expect(await store.turns.claim("echo", 10)).toEqual([]);
    await leases.renew();
    expect(await store.turns.claim("echo", 10)).toMatchObject([{ taskId: "t", epoch: 2 }]);
    await leases.end();
  });

  it("is not missing after a commit whose result was lost [E17]", async () => {
    const leases = new PostgresTaskLeases(pool, 15_000);
    await leases.renew();
    const lost = leases.recordCommit([beginTurn], async () => {
      await store.commit([beginTurn]);
      await runTestSql(url, `UPDATE colloquy.task SET lease_node = '${leases.node}'`);
      throw new Error("Query read timeout");
    });
    await expect(lost).rejects.toThrow("timeout");
    for (let renewal = 0; renewal < 3; renewal++) expect(await leases.renew()).toEqual([]);
    expect(await store.turns.claim("echo", 10)).toEqual([]);
    await runTestSql(url, "UPDATE colloquy.task SET epoch = 1");
    expect(await leases.renew()).toMatchObject([{ taskId: "t", epoch: 0 }]);
    await leases.end();
  });

  it("is kept while a commit may have acquired it, and after the result of the commit [E17]", async () => {
    const leases = new PostgresTaskLeases(pool, 15_000);
    await leases.renew();
    let endCommit = (): void => {};
    const committing = leases.recordCommit([beginTurn], async () => {
      await store.commit([beginTurn]);
      await runTestSql(url, `UPDATE colloquy.task SET lease_node = '${leases.node}'`);
      await new Promise<void>((resolve) => (endCommit = resolve));
      return [undefined];
    });
    const findForgotten = (): Promise<unknown[]> => pool.query(FIND_FORGOTTEN_LEASES, [leases.node, [], []]);
    await expect.poll(findForgotten).toHaveLength(1);
    for (let renewal = 0; renewal < 3; renewal++) await leases.renew();
    expect(await findForgotten()).toHaveLength(1);
    endCommit();
    await committing;
    for (let renewal = 0; renewal < 3; renewal++) await leases.renew();
    expect(await findForgotten()).toHaveLength(1);
    await leases.end();
  });

  it("is not claimed by its own node, whose row may be deleted during a pause [E17, E21]", async () => {
    const leases = new PostgresTaskLeases(pool, 15_000);
    await leases.renew();
    await leases.recordCommit([beginTurn], async () => {
      await store.commit([beginTurn]);
      await runTestSql(url, `UPDATE colloquy.task SET lease_node = '${leases.node}'`);
      return [undefined];
    });
    await runTestSql(url, `DELETE FROM colloquy.node WHERE id = '${leases.node}'`);
    for (const which of [undefined, "lost", "waiting"] as const)
      expect(await leases.claim("echo", 10, which)).toEqual([]);
    expect(await store.turns.claim("echo", 10, "lost")).toMatchObject([{ taskId: "t", epoch: 1 }]);
    await leases.end();
  });
});
