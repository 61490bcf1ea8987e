import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import type { AppendRefusal } from "../../engine/index.ts";
import { createTestLogAppend, createTestSubmittedTaskEvent } from "../task-event-logs.fixture.ts";
import { PostgresPool, type PostgresConnection } from "./postgres-pool.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { DEFAULT_POSTGRES_OPTIONS } from "./postgres-store-options.ts";
import { PostgresStore } from "./postgres-store.ts";
import { PostgresTaskLeases } from "./postgres-task-leases.ts";
import { FIND_LOST_LEASES } from "./statements/leases.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("a lease that its node releases together with a new epoch", () => {
  let pool: PostgresPool;
  let leases: PostgresTaskLeases;
  /** Delays the result of the search for lost leases. */
  let delaySearchResult: () => Promise<unknown>;

  const connection: PostgresConnection = {
    query: async (statement, parameters) => {
      const rows = await pool.query(statement, parameters);
      if (statement.name === FIND_LOST_LEASES.name) await delaySearchResult();
      return rows;
    },
  };
  const beginTurn = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")], {
    hasRunningTurn: true,
  });
  /** The append that ends the turn, and that queues another turn. */
  const endTurn = createTestLogAppend("t", 1, [], { hasRunningTurn: false, incrementsEpoch: true });

  async function storeEndOfTurn(): Promise<(AppendRefusal | undefined)[]> {
    await runTestSql(url, "UPDATE colloquy.task SET running = false, lease_node = NULL, epoch = epoch + 1");
    return [undefined];
  }

  beforeAll(async () => {
    pool = await PostgresPool.create({ url, size: 2, ...DEFAULT_POSTGRES_OPTIONS });
  });
  afterAll(() => pool.close());

  beforeEach(async () => {
    delaySearchResult = () => Promise.resolve();
    leases = new PostgresTaskLeases(connection, 15_000);
    const store = new PostgresStore(url);
    await store.open();
    await runTestSql(url, "TRUNCATE colloquy.task CASCADE");
    await leases.renew();
    await leases.recordCommit([beginTurn], () => store.commit([beginTurn]));
    await runTestSql(url, `UPDATE colloquy.task SET lease_node = '${leases.node}'`);
    await store.close();
  });
  afterEach(() => leases.end());

  it("is not lost while the result of the commit is on its way [E17, E21]", async () => {
    await leases.recordCommit([endTurn], async () => {
      const stored = await storeEndOfTurn();
      expect(await leases.renew()).toEqual([]);
      return stored;
    });
    expect(leases.holdsLeases).toBe(false);
    expect(await leases.renew()).toEqual([]);
  });

  it("is not lost if the result of the commit arrives before that of the search [E17, E21]", async () => {
    const stored = await storeEndOfTurn();
    delaySearchResult = () => leases.recordCommit([endTurn], () => Promise.resolve(stored));
    expect(await leases.renew()).toEqual([]);
    expect(leases.holdsLeases).toBe(false);
  });

  it("is lost after a commit that the store has refused [E17, E21]", async () => {
    await storeEndOfTurn();
    await leases.recordCommit([endTurn], async () => {
      expect(await leases.renew()).toEqual([]);
      return ["conflict"];
    });
    expect(await leases.renew()).toMatchObject([{ taskId: "t", epoch: 0 }]);
  });
});
