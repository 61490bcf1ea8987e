import { beforeEach, describe, expect, it } from "vitest";
import type { LogAppend, QueuedTurnData } from "../engine/index.ts";
import type { TaskEvent } from "../protocol/index.ts";
import {
  aliceTestTaskScope,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestUserMessage,
} from "./task-event-logs.fixture.ts";
import { restartTestStore, type TestStore } from "./test-store.fixture.ts";

const GENEROUS_TEST_READ_LIMIT = { events: 1000, maxBytes: 1_000_000 };

/** Defines the contract tests for running and queued turns. */
export function defineStoredTurnsContract(
  getStore: () => TestStore,
  append: (...args: Parameters<typeof createTestLogAppend>) => Promise<void>,
): void {
  it("stores the newest turn of a task until it is deleted [E9]", async () => {
    const turn = { seq: 1, attempt: 1, request: { metadata: { a: 1 } }, service: { version: "0.3" } };
    let epoch = 0;
    const claimTurn = async (): Promise<unknown> => {
      await restartTestStore(getStore());
      const claimed = await getStore().turns.claim("echo", 10);
      expect(claimed).toMatchObject([{ taskId: "t", epoch: ++epoch }]);
      return claimed[0]?.turn;
    };
    await append("t", 0, [createTestSubmittedTaskEvent("t")], { turn, hasRunningTurn: true });
    expect(await claimTurn()).toEqual(turn);
    await append("t", 1, [createTestChunkEvent("t", "a")], { epoch });
    expect(await claimTurn()).toEqual(turn);
    await append("t", 2, [createTestChunkEvent("t", "b")], { turn: { ...turn, attempt: 2 }, epoch });
    expect(await claimTurn()).toEqual({ ...turn, attempt: 2 });
    // A rejected append does not change the turn.
    await getStore().commit([createTestLogAppend("t", 9, [createTestChunkEvent("t", "c")], { turn, epoch })]);
    expect(await claimTurn()).toEqual({ ...turn, attempt: 2 });
    await append("t", 3, [createTestChunkEvent("t", "c")], { turn: null, epoch });
    expect(await claimTurn()).toBeUndefined();
  });

  describe("a queue of turns", () => {
    const queued = (position: number): QueuedTurnData => ({
      position,
      message: createTestUserMessage(`q${position}`),
      request: { metadata: { position } },
      service: { version: "0.3" },
    });
    const waiting = (position: number): LogAppend["messages"][number] => ({
      messageId: `q${position}`,
      seq: 0,
    });
    const begin = (position: number): TaskEvent => ({ message: createTestUserMessage(`q${position}`) });
    async function loadQueue(scope = aliceTestTaskScope): Promise<unknown> {
      return (await getStore().load(scope, "t"))?.queuedTurns;
    }

    beforeEach(() => append("t", 0, [createTestSubmittedTaskEvent("t")]));

    it("changes with and without events, and does not change the log [E11]", async () => {
      expect(await loadQueue()).toBeUndefined();
      expect(await getStore().turns.listQueued()).toEqual([]);
      await append("t", 1, [], { queueChange: { added: [queued(1)] }, messages: [waiting(1)] });
      await append("t", 1, [createTestChunkEvent("t", "a")], {
        queueChange: { added: [queued(2), queued(3)] },
        messages: [waiting(2), waiting(3)],
      });
      expect(await loadQueue()).toEqual([queued(1), queued(2), queued(3)]);
      expect(await getStore().load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2 });
      expect(await getStore().readEvents(aliceTestTaskScope, "t", 0, GENEROUS_TEST_READ_LIMIT)).toHaveLength(
        2,
      );
      expect(await getStore().turns.listQueued()).toEqual([{ scope: aliceTestTaskScope, taskId: "t" }]);
      await append("t", 2, [], { queueChange: { added: [queued(4)], removedThrough: 3 } });
      expect(await loadQueue()).toEqual([queued(4)]);
      await append("t", 2, [], { queueChange: { added: [], removedThrough: 4 } });
      expect(await loadQueue()).toBeUndefined();
      expect(await getStore().turns.listQueued()).toEqual([]);
    });

    it("belongs to one task of one scope [E13]", async () => {
      await append("t", 0, [createTestSubmittedTaskEvent("t")], { scope: bobTestTaskScope });
      await append("t", 1, [], { queueChange: { added: [queued(1)] }, messages: [waiting(1)] });
      const bobs = { queueChange: { added: [queued(1)] }, messages: [waiting(1)], scope: bobTestTaskScope };
      await append("t", 1, [], bobs);
      await append("t", 1, [], { queueChange: { added: [], removedThrough: 1 } });
      expect(await loadQueue()).toBeUndefined();
      expect(await loadQueue(bobTestTaskScope)).toEqual([queued(1)]);
    });

    it("registers the ids of its messages, and the start of a turn updates them [E10]", async () => {
      await append("t", 1, [], { queueChange: { added: [queued(1)] }, messages: [waiting(1)] });
      expect(await getStore().findMessage(aliceTestTaskScope, "q1")).toEqual({ taskId: "t", seq: 0 });
      const again = createTestLogAppend("t", 1, [], {
        queueChange: { added: [queued(2)] },
        messages: [waiting(1)],
      });
      expect(await getStore().commit([again])).toEqual(["duplicate-message"]);
      expect(await loadQueue()).toEqual([queued(1)]);
      const start = {
        queueChange: { added: [], removedThrough: 1 },
        messages: [{ messageId: "q1", seq: 2, wasQueued: true }],
      };
      // A rejected start does not change the queue.
      expect(await getStore().commit([createTestLogAppend("t", 7, [begin(1)], start)])).toEqual(["conflict"]);
      expect(await getStore().findMessage(aliceTestTaskScope, "q1")).toEqual({ taskId: "t", seq: 0 });
      expect(await loadQueue()).toEqual([queued(1)]);
      await append("t", 1, [begin(1)], start);
      expect(await getStore().findMessage(aliceTestTaskScope, "q1")).toEqual({ taskId: "t", seq: 2 });
      expect(await loadQueue()).toBeUndefined();
    });

    it("may gain and lose a turn in one append", async () => {
      await append("t", 1, [begin(1)], {
        queueChange: { added: [queued(1)], removedThrough: 1 },
        messages: [waiting(1), { messageId: "q1", seq: 2, wasQueued: true }],
      });
      expect(await getStore().findMessage(aliceTestTaskScope, "q1")).toEqual({ taskId: "t", seq: 2 });
      expect(await loadQueue()).toBeUndefined();
    });

    it("is deleted with its task", async () => {
      await append("t", 1, [], { queueChange: { added: [queued(1)] }, messages: [waiting(1)] });
      const { deletionStore } = getStore();
      const tasks = (await deletionStore.findMatchingTasks({ taskId: "t" }, 10)) ?? [];
      expect(await deletionStore.deleteTasks(tasks, { budgetMs: 1000 })).toBe(1);
      expect(await getStore().turns.listQueued()).toEqual([]);
      expect(await getStore().findMessage(aliceTestTaskScope, "q1")).toBeUndefined();
      await append("t", 0, [createTestSubmittedTaskEvent("t")]);
      expect(await loadQueue()).toBeUndefined();
    });

    it("is unchanged by a rejected append", async () => {
      const late = createTestLogAppend("t", 5, [], {
        queueChange: { added: [queued(1)] },
        messages: [waiting(1)],
      });
      expect(await getStore().commit([late])).toEqual(["conflict"]);
      expect(await loadQueue()).toBeUndefined();
      expect(await getStore().findMessage(aliceTestTaskScope, "q1")).toBeUndefined();
    });
  });
}
