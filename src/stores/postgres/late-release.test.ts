import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import {
  alice,
  createEngineFixture,
  createTestSendMessageRequest,
  FakeClock,
  getTestResponseTask,
  inputRequiredTestEvent,
} from "../../engine/engine.fixture.ts";
import type { TaskLease } from "../../engine/index.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { createNodeCooperation } from "../../cluster/index.ts";
import { PostgresPool, type PostgresConnection } from "./postgres-pool.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { DEFAULT_POSTGRES_OPTIONS } from "./postgres-store-options.ts";
import { PostgresStore } from "./postgres-store.ts";
import { PostgresTaskLeases } from "./postgres-task-leases.ts";
import { computeScopeKey } from "./scope-key.ts";
import { RELEASE_LEASE } from "./statements/leases.ts";

const { url, reason } = await findTestDatabase();
const TIMEOUT = "Query read timeout";

/** A store that can lose the results of commits, and then answers no queries for events. */
class StoreWithLostResults extends PostgresStore {
  losesResults = false;

  override async commit(
    ...[batch]: Parameters<PostgresStore["commit"]>
  ): ReturnType<PostgresStore["commit"]> {
    const refusals = await super.commit(batch);
    if (this.losesResults) throw new Error(TIMEOUT);
    return refusals;
  }

  override async readEvents(
    ...log: Parameters<PostgresStore["readEvents"]>
  ): ReturnType<PostgresStore["readEvents"]> {
    if (this.losesResults) throw new Error(TIMEOUT);
    return await super.readEvents(...log);
  }
}

describe.skipIf(reason)("a release that arrives late", () => {
  let pool: PostgresPool;
  let store: StoreWithLostResults;
  let otherNode: PostgresStore;

  beforeAll(async () => {
    pool = await PostgresPool.create({ url, size: 2, ...DEFAULT_POSTGRES_OPTIONS });
  });
  afterAll(() => pool.close());

  beforeEach(async () => {
    [store, otherNode] = [new StoreWithLostResults(url), new PostgresStore(url)];
    await Promise.all([store.open(), otherNode.open()]);
    await runTestSql(url, "TRUNCATE colloquy.task CASCADE");
  });
  afterEach(() => Promise.all([store.close(), otherNode.close()]));

  it("keeps the lease of the next turn of the task on the same node [E11, E21]", async () => {
    const late: TaskLease[] = [];
    store.turns.release = (lease) => {
      late.push(lease);
      return Promise.reject(new Error(TIMEOUT));
    };
    const clock = new FakeClock();
    const nodeCooperation = createNodeCooperation({ store, clock });
    const { engine, agent } = createEngineFixture({ store, clock, nodeCooperation });
    await engine.open();
    const configuration = { returnImmediately: true };
    const request = createTestSendMessageRequest("go", { configuration });
    const { id: taskId } = getTestResponseTask(await engine.sendMessage(request, alice));
    const firstRun = await agent.waitForRun(0);
    store.losesResults = true;
    firstRun.emit(inputRequiredTestEvent).end();
    await expect
      .poll(() => {
        clock.advance(1000);
        return late;
      })
      .not.toEqual([]);
    store.losesResults = false;

    await engine.sendMessage(createTestSendMessageRequest("next", { taskId, configuration }), alice);
    const nextRun = await agent.waitForRun(1);
    const scope = { ...alice, agent: "puppet" };
    const { node } = store.turns as PostgresTaskLeases;
    for (const { epoch } of late)
      await pool.query(RELEASE_LEASE, [node, computeScopeKey(scope), taskId, epoch]);
    expect(await otherNode.turns.claim("puppet", 10)).toEqual([]);
    expect(await otherNode.load(scope, taskId)).toMatchObject({ runsOnOtherNode: true });
    nextRun.end();
    await engine.close(0);
  });

  describe("after a lost result of the start of a turn", () => {
    let leases: PostgresTaskLeases;
    const statements: string[] = [];
    const connection: PostgresConnection = {
      query: (statement, parameters) => {
        statements.push(statement.name);
        return pool.query(statement, parameters);
      },
    };
    const lease = { scope: aliceTestTaskScope, taskId: "t", epoch: 1 };
    const beginTurn = createTestLogAppend("t", 1, [createTestChunkEvent("t", "x")], {
      hasRunningTurn: true,
      incrementsEpoch: true,
    });

    /** Begins the turn on the node of `leases`. */
    async function storeTurnStart(): Promise<undefined[]> {
      await store.commit([beginTurn]);
      await runTestSql(url, `UPDATE colloquy.task SET lease_node = '${leases.node}'`);
      return [undefined];
    }

    beforeEach(async () => {
      leases = new PostgresTaskLeases(connection, 15_000);
      await leases.renew();
      await store.commit([createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")])]);
      statements.length = 0;
    });
    afterEach(() => leases.end());

    it("is not sent, because the next turn could have the same epoch [E11, E21]", async () => {
      const lost = leases.recordCommit([beginTurn], () => Promise.reject(new Error(TIMEOUT)));
      await expect(lost).rejects.toThrow(TIMEOUT);
      await leases.release(lease);
      expect(statements).not.toContain(RELEASE_LEASE.name);
      await leases.recordCommit([beginTurn], storeTurnStart);
      expect(await leases.renew()).toEqual([]);
      expect(await otherNode.turns.claim("echo", 10)).toEqual([]);
    });

    it("is sent if the turn has begun, so that another node recovers the task [E17, E21]", async () => {
      const lost = leases.recordCommit([beginTurn], async () => {
        await storeTurnStart();
        throw new Error(TIMEOUT);
      });
      await expect(lost).rejects.toThrow(TIMEOUT);
      await leases.release(lease);
      expect(await otherNode.turns.claim("echo", 10)).toMatchObject([{ taskId: "t", epoch: 2 }]);
    });
  });
});
