import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { Deferred } from "../../base/data-structures/index.ts";
import { createNodeCooperation } from "../../cluster/index.ts";
import {
  alice,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  FakeClock,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
  type EngineFixture,
} from "../../engine/engine.fixture.ts";
import { getText } from "../../protocol/index.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";
import type { PostgresTaskLeases } from "./postgres-task-leases.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("a lease that no agent of its node uses", () => {
  let stores: PostgresStore[];

  beforeEach(async () => {
    stores = [new PostgresStore(url), new PostgresStore(url)];
    await Promise.all(stores.map((store) => store.open()));
    await runTestSql(url, "TRUNCATE colloquy.task CASCADE");
  });
  afterEach(() => Promise.all(stores.map((store) => store.close())));

  async function createNode(store: PostgresStore, whileWorking?: "queue"): Promise<EngineFixture> {
    const clock = new FakeClock();
    const nodeCooperation = createNodeCooperation({ store, clock });
    const agent = new ScriptedAgent({ afterRestart: "restart", ...(whileWorking && { whileWorking }) });
    const node = createEngineFixture({ store, clock, agent, nodeCooperation, cancelGraceMs: 1000 });
    await node.engine.open();
    return node;
  }

  it("is used for the recovery of a turn, although an agent of an earlier turn still runs [E17, E21]", async () => {
    const [store, otherStore] = stores as [PostgresStore, PostgresStore];
    const node = await createNode(store);
    const configuration = { returnImmediately: true };
    const first = await node.engine.sendMessage(
      createTestSendMessageRequest("one", { configuration }),
      alice,
    );
    const { id: taskId } = getTestResponseTask(first);
    const lingering = await node.agent.waitForRun(0);
    lingering.emit(inputRequiredTestEvent);
    const scope = { ...alice, agent: "puppet" };
    await expect.poll(() => store.load(scope, taskId)).toMatchObject({ awaitsRecovery: false, seq: 2 });

    const other = await createNode(otherStore);
    await other.engine.sendMessage(createTestSendMessageRequest("two", { taskId, configuration }), alice);
    await other.agent.waitForRun(0);
    const { node: deadNode } = otherStore.turns as PostgresTaskLeases;
    await runTestSql(url, `DELETE FROM colloquy.node WHERE id = '${deadNode}'`);

    await expect
      .poll(() => {
        node.clock.advance(1000);
        return node.agent.runs.length;
      })
      .toBe(2);
    expect(lingering.run.signal.aborted).toBe(true);
    const recovered = await node.agent.waitForRun(1);
    expect(getText(recovered.run.message.parts)).toBe("two");
    expect(recovered.run.attempt).toBe(2);
    recovered.end();
    await expect
      .poll(async () => (await node.engine.getTask({ id: taskId }, alice)).status.state)
      .toBe("TASK_STATE_COMPLETED");
    expect(node.errors).toEqual([]);
  });

  it("is released after the store has refused the append that would have ended it [E17, E21]", async () => {
    const [store] = stores as [PostgresStore, PostgresStore];
    const commit = store.commit.bind(store);
    let hasRefused = false;
    const gate = new Deferred();
    store.commit = async (batch) => {
      if (batch.some(({ events }) => events.some(({ event }) => "artifactUpdate" in event)))
        await gate.promise;
      const isEndWithQueuedTurn = batch.some(
        (append) => append.queueChange && append.hasRunningTurn === false,
      );
      if (hasRefused || !isEndWithQueuedTurn) return await commit(batch);
      hasRefused = true;
      return batch.map(() => "duplicate-message" as const);
    };
    const node = await createNode(store, "queue");
    const configuration = { returnImmediately: true };
    const first = await node.engine.sendMessage(
      createTestSendMessageRequest("one", { configuration }),
      alice,
    );
    const { id: taskId } = getTestResponseTask(first);
    const run = await node.agent.waitForRun(0);
    // The next append contains the queued message and the end of the turn.
    run.emit(createTestChunkEvent("a", false));
    const second = node.engine.sendMessage(
      createTestSendMessageRequest("two", { taskId, configuration }),
      alice,
    );
    await expect.poll(() => node.engine.waitingTurnCounts.task).toBe(1);
    run.emit(inputRequiredTestEvent);
    await expect.poll(() => run.pulledCount).toBe(2);
    gate.resolve();
    await second.catch(() => {});
    await expect
      .poll(() => {
        node.clock.advance(100);
        return node.agent.runs.length;
      })
      .toBe(2);
    expect(hasRefused).toBe(true);
    const recovered = await node.agent.waitForRun(1);
    expect(getText(recovered.run.message.parts)).toBe("one");
    recovered.end();
  });

  // Found by seed 8038418 of the simulation.
  it("is released after this node has claimed a task whose last append has no outcome [E17, E21]", async () => {
    const [store] = stores as [PostgresStore, PostgresStore];
    const commit = store.commit.bind(store);
    const gate = new Deferred();
    const claim = new Deferred();
    let attempts = 0;
    store.commit = async (batch) => {
      if (batch.some(({ events }) => events.some(({ event }) => "artifactUpdate" in event)))
        await gate.promise;
      const isEnd = batch.some((append) => append.queueChange && append.hasRunningTurn === false);
      if (isEnd && ++attempts === 1) throw new Error("The connection was lost.");
      if (isEnd) await claim.promise;
      return await commit(batch);
    };
    const node = await createNode(store, "queue");
    const configuration = { returnImmediately: true };
    const first = await node.engine.sendMessage(
      createTestSendMessageRequest("one", { configuration }),
      alice,
    );
    const { id: taskId } = getTestResponseTask(first);
    const run = await node.agent.waitForRun(0);
    run.emit(createTestChunkEvent("a", false));
    const second = node.engine.sendMessage(
      createTestSendMessageRequest("two", { taskId, configuration }),
      alice,
    );
    await expect.poll(() => node.engine.waitingTurnCounts.task).toBe(1);
    run.emit(inputRequiredTestEvent);
    await expect.poll(() => run.pulledCount).toBe(2);
    gate.resolve();
    await expect.poll(() => attempts).toBe(2);
    // Another node has claimed the task, and has released it.
    await runTestSql(
      url,
      "UPDATE colloquy.task SET epoch = epoch + 1, lease_node = NULL, wake_at = '-infinity'",
    );
    await expect
      .poll(() => {
        node.clock.advance(250);
        return (store.turns as PostgresTaskLeases).readGauges().claimed;
      })
      .toBe(1);
    claim.resolve();
    await second.catch(() => {});
    await expect
      .poll(() => {
        node.clock.advance(100);
        return node.agent.runs.length;
      })
      .toBe(2);
    const recovered = await node.agent.waitForRun(1);
    expect(getText(recovered.run.message.parts)).toBe("one");
    recovered.end();
  });

  it("is released after the append that would have ended it has no outcome [E17, E21]", async () => {
    const [store] = stores as [PostgresStore, PostgresStore];
    const commit = store.commit.bind(store);
    const gate = new Deferred();
    let failures = 0;
    store.commit = async (batch) => {
      if (batch.some(({ events }) => events.some(({ event }) => "artifactUpdate" in event)))
        await gate.promise;
      const isEnd = batch.some((append) => append.queueChange && append.hasRunningTurn === false);
      if (!isEnd) return await commit(batch);
      failures++;
      throw new Error("The connection was lost.");
    };
    const node = await createNode(store, "queue");
    const configuration = { returnImmediately: true };
    const first = await node.engine.sendMessage(
      createTestSendMessageRequest("one", { configuration }),
      alice,
    );
    const { id: taskId } = getTestResponseTask(first);
    const run = await node.agent.waitForRun(0);
    // The next append contains the queued message and the end of the turn.
    run.emit(createTestChunkEvent("a", false));
    const second = node.engine.sendMessage(
      createTestSendMessageRequest("two", { taskId, configuration }),
      alice,
    );
    await expect.poll(() => node.engine.waitingTurnCounts.task).toBe(1);
    run.emit(inputRequiredTestEvent);
    await expect.poll(() => run.pulledCount).toBe(2);
    gate.resolve();
    const failure = second.catch((error: unknown) => error);
    await expect
      .poll(() => {
        node.clock.advance(100);
        return node.agent.runs.length;
      })
      .toBe(2);
    expect(await failure).toBeInstanceOf(Error);
    expect(failures).toBeGreaterThan(1);
    const recovered = await node.agent.waitForRun(1);
    expect(getText(recovered.run.message.parts)).toBe("one");
    recovered.end();
  });
});

describe.skipIf(reason)("a node whose agent still runs after its question", () => {
  it("answers with the task that another node has continued, also a message that waits there [E1, E10]", async () => {
    const stores = [new PostgresStore(url), new PostgresStore(url)] as const;
    await Promise.all(stores.map((store) => store.open()));
    await runTestSql(url, "TRUNCATE colloquy.task CASCADE");
    const [node, other] = await Promise.all(
      stores.map(async (store) => {
        const clock = new FakeClock();
        const agent = new ScriptedAgent({ whileWorking: "queue" });
        const nodeCooperation = createNodeCooperation({ store, clock });
        const created = createEngineFixture({ store, clock, agent, nodeCooperation });
        await created.engine.open();
        return created;
      }),
    );
    if (!node || !other) throw new Error("There are two nodes.");
    const configuration = { returnImmediately: true };
    const first = await node.engine.sendMessage(
      createTestSendMessageRequest("one", { configuration }),
      alice,
    );
    const { id: taskId } = getTestResponseTask(first);
    const lingering = await node.agent.waitForRun(0);
    lingering.emit(inputRequiredTestEvent);
    const scope = { ...alice, agent: "puppet" };
    await expect.poll(() => stores[0].load(scope, taskId)).toMatchObject({ awaitsRecovery: false, seq: 2 });
    await other.engine.sendMessage(createTestSendMessageRequest("two", { taskId, configuration }), alice);
    const running = await other.agent.waitForRun(0);
    const third = createTestSendMessageRequest("three", { taskId, configuration });
    await other.engine.sendMessage(third, alice);
    await expect.poll(() => stores[0].load(scope, taskId)).toMatchObject({ queuedTurns: [{ position: 1 }] });

    expect((await node.engine.getTask({ id: taskId }, alice)).status.state).toBe("TASK_STATE_WORKING");
    const repeated = node.engine.sendMessage(third, alice);
    await expect(repeated).resolves.toMatchObject({ task: { id: taskId } });

    running.emit(inputRequiredTestEvent).end();
    lingering.end();
    (await other.agent.waitForRun(1)).end();
    await expect
      .poll(async () => (await node.engine.getTask({ id: taskId }, alice)).status.state)
      .toBe("TASK_STATE_COMPLETED");
    await Promise.all([node.engine.close(0), other.engine.close(0)]);
    await Promise.all(stores.map((store) => store.close()));
  });
});
