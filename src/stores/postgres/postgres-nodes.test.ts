import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  createTestUserMessage,
} from "../task-event-logs.fixture.ts";
import { createTestWebhookRegistration } from "../push-store.contract.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("two nodes on one database", () => {
  let first: PostgresStore;
  let second: PostgresStore;
  let taskCount = 0;
  let taskId: string;

  beforeEach(async () => {
    taskId = `t${++taskCount}`;
    if (taskCount > 1) await runTestSql(url, "TRUNCATE colloquy.task CASCADE");
    [first, second] = [new PostgresStore(url), new PostgresStore(url)];
    await Promise.all([first.open(), second.open()]);
  });

  afterEach(() => Promise.all([first.close(), second.close()]));

  const beginTurn = (store: PostgresStore): Promise<unknown> =>
    store.commit([
      createTestLogAppend(taskId, 0, [createTestSubmittedTaskEvent(taskId)], { hasRunningTurn: true }),
    ]);
  const appendChunk = (store: PostgresStore, seq: number, options = {}): Promise<unknown> =>
    store.commit([createTestLogAppend(taskId, seq, [createTestChunkEvent(taskId, "x")], options)]);

  /** Ends the leases of the first node as if another node had watched it. */
  const expireFirstNode = (): Promise<unknown> =>
    runTestSql(
      url,
      `DELETE FROM colloquy.node WHERE id IN (SELECT lease_node FROM colloquy.task WHERE task_id = '${taskId}')`,
    );

  it("store one of two messages with the same id, whichever node receives them [E10]", async () => {
    for (let round = 0; round < 20; round++) {
      const messages = [{ messageId: `m${round}`, seq: 1 }];
      const outcomes = await Promise.all(
        [first, second].map(async (store, node) => {
          const id = `${taskId}-${round}-${node}`;
          const append = createTestLogAppend(id, 0, [createTestSubmittedTaskEvent(id)], { messages });
          return (await store.commit([append]))[0];
        }),
      );
      expect(new Set(outcomes)).toEqual(new Set(["duplicate-message", undefined]));
    }
  });

  it("refuse a turn of a queue to which the other node has added a turn [E10]", async () => {
    await first.commit([createTestLogAppend(taskId, 0, [createTestSubmittedTaskEvent(taskId)])]);
    const queued = { message: createTestUserMessage("m2"), position: 1, request: {}, service: {} };
    const queueAppend = createTestLogAppend(taskId, 1, [], {
      queueChange: { added: [queued] },
      incrementsEpoch: true,
    });
    expect(await second.commit([queueAppend])).toEqual([undefined]);
    expect(await first.commit([queueAppend])).toEqual(["conflict"]);
    expect(await appendChunk(first, 1, { hasRunningTurn: true })).toEqual(["conflict"]);
    expect(await appendChunk(first, 1, { hasRunningTurn: true, epoch: 1 })).toEqual([undefined]);
  });

  it("store one of two appends at the same position, and number the events without gaps [E1]", async () => {
    await first.commit([createTestLogAppend(taskId, 0, [createTestSubmittedTaskEvent(taskId)])]);
    for (let seq = 1; seq <= 20; seq++) {
      const outcomes = await Promise.all([appendChunk(first, seq), appendChunk(second, seq)]);
      expect(new Set(outcomes.flat())).toEqual(new Set(["conflict", undefined]));
    }
    const events = await second.readEvents(aliceTestTaskScope, taskId, 0, { events: 100, maxBytes: 1e6 });
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 21 }, (_, at) => at + 1));
  });

  it("refuse appends to a task whose turn another living node runs [E17]", async () => {
    await beginTurn(first);
    expect(await second.load(aliceTestTaskScope, taskId)).toMatchObject({ awaitsRecovery: false });
    expect(await appendChunk(second, 1)).toEqual(["conflict"]);
    expect(await second.turns.claim("echo", 10)).toEqual([]);
    expect(await appendChunk(first, 1)).toEqual([undefined]);
    expect(await first.turns.renew()).toEqual([]);
  });

  it("claim the tasks of a node whose lease has expired, and fence that node [E17]", async () => {
    await beginTurn(first);
    await expireFirstNode();
    expect(await second.load(aliceTestTaskScope, taskId)).toMatchObject({ awaitsRecovery: true });
    expect(await second.turns.claim("echo", 10)).toMatchObject([{ taskId, epoch: 1 }]);
    expect(await appendChunk(first, 1)).toEqual(["conflict"]);
    expect(await appendChunk(second, 1, { epoch: 1 })).toEqual([undefined]);
    const lost = { scope: aliceTestTaskScope, taskId, epoch: 0 };
    expect(await first.turns.renew()).toEqual([lost]);
    await first.turns.release(lost);
    expect(await first.turns.renew()).toEqual([]);
    expect(await first.turns.claim("echo", 10)).toEqual([]);
  });

  it("keep a lease that has expired, if no other node has claimed the task", async () => {
    await beginTurn(first);
    await expireFirstNode();
    expect(await first.turns.renew()).toEqual([]);
    expect(await second.turns.claim("echo", 10)).toEqual([]);
    expect(await appendChunk(first, 1)).toEqual([undefined]);
  });

  it("never claim the same task twice, even at the same time [E17]", async () => {
    const ids = Array.from({ length: 30 }, (_, n) => `${taskId}-${n}`);
    await first.commit(
      ids.map((id) =>
        createTestLogAppend(id, 0, [createTestSubmittedTaskEvent(id)], { hasRunningTurn: true }),
      ),
    );
    await first.close();
    const third = new PostgresStore(url);
    await third.open();
    try {
      const claims = await Promise.all(
        [second, third, second, third].map((store) => store.turns.claim("echo", 10)),
      );
      const rest = await second.turns.claim("echo", 100);
      const claimed = [...claims.flat(), ...rest].map((task) => task.taskId);
      expect(claimed.toSorted()).toEqual(ids.toSorted());
    } finally {
      await third.close();
    }
  });

  it("encrypt the secrets of webhooks, which only nodes with the same key can read", async () => {
    const pushSecretKeys = [Buffer.alloc(32, 7).toString("base64")];
    const [writer, reader] = [
      new PostgresStore(url, { pushSecretKeys }),
      new PostgresStore(url, { pushSecretKeys }),
    ];
    await Promise.all([writer.open(), reader.open()]);
    try {
      const registration = createTestWebhookRegistration("w", { token: "s3cret-token" });
      await writer.commit([
        createTestLogAppend(taskId, 0, [createTestSubmittedTaskEvent(taskId)], { webhooks: [registration] }),
      ]);
      expect(JSON.stringify(await runTestSql(url, "SELECT * FROM colloquy.push"))).not.toContain("s3cret");
      expect(await reader.pushStore.get(aliceTestTaskScope, taskId, "w")).toMatchObject({
        config: { token: "s3cret-token" },
      });
      const webhook = await second.pushStore.get(aliceTestTaskScope, taskId, "w");
      expect(webhook?.secretsError).toContain('"pushSecretKeys" of PostgresStore');
      expect(webhook?.config).not.toHaveProperty("token");
    } finally {
      await Promise.all([writer.close(), reader.close()]);
    }
  });
});
