import { describe, expect, it, vi } from "vitest";
import { SlotReuseMap } from "../base/data-structures/index.ts";
import { LogEvent, type TaskEvent, type TaskState } from "../protocol/index.ts";
import { MemoryStore } from "./memory-store.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  createTestStatusEvent,
  createTestUserMessage,
  foldTestTaskEvents,
  listDueTestWebhooks,
} from "./task-event-logs.fixture.ts";
import { createTestWebhookRegistration } from "./push-store.contract.ts";
import { commitTestAppendExpectingSuccess, defineTaskStoreContract } from "./task-store.contract.ts";

const TASK_BYTES = 20_000;

defineTaskStoreContract("MemoryStore", () => new MemoryStore());

describe("MemoryStore", () => {
  it("evicts the task that finished first, with its messages [E14]", async () => {
    const store = new MemoryStore({ maxFinishedTasks: 2 });
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("open", 0, [createTestSubmittedTaskEvent("open")]),
    );
    for (const id of ["a", "b", "c"]) {
      const messages = [{ messageId: `m-${id}`, seq: 1 }];
      await commitTestAppendExpectingSuccess(
        store,
        createTestLogAppend(id, 0, [createTestSubmittedTaskEvent(id)], { messages }),
      );
    }
    for (const id of ["b", "a", "c"]) {
      await commitTestAppendExpectingSuccess(
        store,
        createTestLogAppend(id, 1, [createTestStatusEvent(id, "TASK_STATE_COMPLETED")]),
      );
    }
    expect(await store.load(aliceTestTaskScope, "b")).toBeUndefined();
    expect(await store.findMessage(aliceTestTaskScope, "m-b")).toBeUndefined();
    expect((await store.list(aliceTestTaskScope, { limit: 10 })).tasks.map(({ id }) => id)).toEqual([
      "open",
      "c",
      "a",
    ]);
    expect(await store.findMessage(aliceTestTaskScope, "m-a")).toEqual({ taskId: "a", seq: 1 });
  });

  it("evicts a task's webhooks with the task [E14]", async () => {
    const store = new MemoryStore({ maxFinishedTasks: 1 });
    for (const id of ["a", "b"]) {
      await commitTestAppendExpectingSuccess(
        store,
        createTestLogAppend(id, 0, [createTestSubmittedTaskEvent(id)], {
          webhooks: [createTestWebhookRegistration("w")],
        }),
      );
      await commitTestAppendExpectingSuccess(
        store,
        createTestLogAppend(id, 1, [createTestStatusEvent(id, "TASK_STATE_COMPLETED")]),
      );
    }
    expect(await store.pushStore.list(aliceTestTaskScope, "a")).toBeUndefined();
    expect(await listDueTestWebhooks(store.pushStore)).toMatchObject([{ taskId: "b", deliveredSeq: 0 }]);
  });

  it("finds the tasks that need recovery without a look at the other tasks [E17]", async () => {
    const store = new MemoryStore();
    for (let n = 0; n < 1_000; n++) {
      await storeTask(store, `ended-${n}`, "TASK_STATE_COMPLETED", { content: "" });
      await storeTask(store, `runs-${n}`, "TASK_STATE_WORKING", { content: "", hasRunningTurn: true });
    }
    const queuedTurn = { position: 1, message: createTestUserMessage("q"), request: {}, service: {} };
    const released = { content: "", hasRunningTurn: true, releasesLease: true };
    for (const id of ["lost-1", "lost-2"]) await storeTask(store, id, "TASK_STATE_WORKING", released);
    await storeTask(store, "queue", "TASK_STATE_WORKING", {
      content: "",
      hasRunningTurn: true,
      queueChange: { added: [queuedTurn] },
    });
    const values = vi.spyOn(SlotReuseMap.prototype, "values");
    const { agent } = aliceTestTaskScope;
    const claimed = await store.turns.claim(agent, 256, "lost");
    expect(claimed.map(({ taskId }) => taskId).toSorted()).toEqual(["lost-1", "lost-2"]);
    expect(await store.turns.claim(agent, 256, "lost")).toEqual([]);
    for (const lease of claimed.slice(0, 1)) await store.turns.release(lease);
    expect(await store.turns.claim(agent, 256, "lost")).toMatchObject([{ taskId: claimed[0]?.taskId }]);
    expect(await store.turns.listQueued()).toEqual([{ scope: aliceTestTaskScope, taskId: "queue" }]);
    expect(values).not.toHaveBeenCalled();
    values.mockRestore();
    // A server that opens the store recovers the turns of all tasks.
    await store.open();
    expect(await store.turns.claim(agent, 2_000, "lost")).toHaveLength(1_003);
  });

  it("lists a running task without a second look at its earlier events", async () => {
    const store = new MemoryStore();
    const events = [
      createTestSubmittedTaskEvent("a"),
      ...["1", "2", "3", "4"].map((content) => createTestChunkEvent("a", content)),
    ];
    const append = async (first: number, last: number): Promise<void> => {
      for (let seq = first; seq <= last; seq++) {
        const options = seq === 1 ? { hasRunningTurn: true } : {};
        const added = [events[seq - 1] as TaskEvent];
        await commitTestAppendExpectingSuccess(store, createTestLogAppend("a", seq - 1, added, options));
      }
    };
    const list = async (): Promise<unknown> =>
      (await store.list(aliceTestTaskScope, { limit: 10, includeArtifacts: true })).tasks[0];
    await append(1, 3);
    expect(await list()).toEqual(foldTestTaskEvents(events.slice(0, 3)));
    await append(4, 5);
    const read = vi.spyOn(LogEvent, "fromJsonText");
    const listed = await list();
    expect(read.mock.calls.map(([seq]) => seq)).toEqual([4, 5]);
    read.mockRestore();
    expect(listed).toEqual(foldTestTaskEvents(events));
    const ended = createTestStatusEvent("a", "TASK_STATE_COMPLETED");
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("a", 5, [ended], { hasRunningTurn: false }),
    );
    expect(await list()).toEqual(foldTestTaskEvents([...events, ended]));
  });

  it("rejects limits of zero", () => {
    expect(() => new MemoryStore({ maxFinishedTasks: 0 })).toThrow("integer of at least 1");
    expect(() => new MemoryStore({ maxBytes: 0 })).toThrow("greater than 0");
  });

  /** Stores a task of about `TASK_BYTES` bytes, unless `content` is set. */
  async function storeTask(
    store: MemoryStore,
    id: string,
    state: TaskState,
    {
      content = "x".repeat(TASK_BYTES),
      ...options
    }: Parameters<typeof createTestLogAppend>[3] & { readonly content?: string } = {},
  ): Promise<void> {
    const events = [
      createTestSubmittedTaskEvent(id),
      createTestChunkEvent(id, content),
      createTestStatusEvent(id, state),
    ];
    await commitTestAppendExpectingSuccess(store, createTestLogAppend(id, 0, events, options));
  }

  async function listIds(store: MemoryStore): Promise<string[]> {
    const { tasks } = await store.list(aliceTestTaskScope, { limit: 100 });
    return tasks.map(({ id }) => id).toSorted();
  }

  it("evicts ended tasks, and then the tasks that have waited longest, above maxBytes [E14]", async () => {
    const store = new MemoryStore({ maxBytes: 3.5 * TASK_BYTES });
    const queuedTurn = { position: 1, message: createTestUserMessage("q"), request: {}, service: {} };
    await storeTask(store, "works", "TASK_STATE_WORKING");
    await storeTask(store, "authorizes", "TASK_STATE_AUTH_REQUIRED", { hasRunningTurn: true });
    await storeTask(store, "queue", "TASK_STATE_INPUT_REQUIRED", { queueChange: { added: [queuedTurn] } });
    await storeTask(store, "asks-1", "TASK_STATE_INPUT_REQUIRED");
    await storeTask(store, "ended-1", "TASK_STATE_COMPLETED");
    expect(store.deletionStore.takeEvictions?.()).toEqual({ endedTasks: 0, waitingTasks: 0 });
    await storeTask(store, "ended-2", "TASK_STATE_COMPLETED");
    const unevictable = ["authorizes", "queue", "works"];
    expect(await listIds(store)).toEqual(["asks-1", "ended-2", ...unevictable].toSorted());
    await storeTask(store, "asks-2", "TASK_STATE_INPUT_REQUIRED");
    expect(await listIds(store)).toEqual(["asks-1", "asks-2", ...unevictable].toSorted());
    await storeTask(store, "asks-3", "TASK_STATE_INPUT_REQUIRED");
    expect(await listIds(store)).toEqual(["asks-2", "asks-3", ...unevictable].toSorted());
    expect(store.deletionStore.takeEvictions?.()).toEqual({ endedTasks: 2, waitingTasks: 1 });
    expect(store.deletionStore.takeEvictions?.()).toEqual({ endedTasks: 0, waitingTasks: 0 });
    expect(await store.load(aliceTestTaskScope, "asks-1")).toBeUndefined();
  });

  it("moves a waiting task behind other waiting tasks when the task continues and waits again [E14]", async () => {
    const store = new MemoryStore({ maxBytes: 2.5 * TASK_BYTES });
    await storeTask(store, "a", "TASK_STATE_INPUT_REQUIRED");
    await storeTask(store, "b", "TASK_STATE_INPUT_REQUIRED");
    const again = [
      createTestStatusEvent("a", "TASK_STATE_WORKING"),
      createTestStatusEvent("a", "TASK_STATE_INPUT_REQUIRED"),
    ];
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("a", 3, again));
    await storeTask(store, "c", "TASK_STATE_INPUT_REQUIRED");
    expect(await listIds(store)).toEqual(["a", "c"]);
  });

  it("keeps the task that stopped last, even if the task is larger than maxBytes [E14]", async () => {
    const store = new MemoryStore({ maxBytes: 1 });
    for (const id of ["a", "b"]) await storeTask(store, id, "TASK_STATE_COMPLETED");
    expect(await listIds(store)).toEqual(["b"]);
  });

  it("counts tasks of any content, and returns to its initial size after their deletion", async () => {
    const store = new MemoryStore({ maxBytes: Infinity });
    for (const id of ["a", "b"]) await storeTask(store, id, "TASK_STATE_COMPLETED");
    await storeTask(store, "c", "TASK_STATE_INPUT_REQUIRED");
    const { usedBytes } = await store.deletionStore.measureSize();
    expect(usedBytes).toBeGreaterThan(3 * TASK_BYTES);
    expect(usedBytes).toBeLessThan(4 * TASK_BYTES);
    const tasks = await store.deletionStore.findMatchingTasks({ principal: "alice" }, 10);
    await store.deletionStore.deleteEvents(tasks.slice(0, 1), { budgetMs: 1 });
    await store.deletionStore.deleteTasks(tasks, { budgetMs: 1 });
    expect(await store.deletionStore.measureSize()).toMatchObject({ usedBytes: 0 });
  });

  it("reads a long log of a stopped task in pages [E1]", async () => {
    const store = new MemoryStore();
    const log = [
      createTestSubmittedTaskEvent("t"),
      ...Array.from({ length: 3000 }, (_, n) => createTestChunkEvent("t", `é ${n} `)),
      createTestStatusEvent("t", "TASK_STATE_INPUT_REQUIRED"),
    ];
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("t", 0, log));
    const answer = [{ message: createTestUserMessage("m2") }, createTestChunkEvent("t", "more")];
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("t", log.length, answer));
    log.push(...answer);
    const read: TaskEvent[] = [];
    while (read.length < log.length) {
      const limit = { events: 257, maxBytes: 1e6 };
      const page = await store.readEvents(aliceTestTaskScope, "t", read.length, limit);
      expect(page.map(({ seq }) => seq)).toEqual(page.map((_, at) => read.length + 1 + at));
      read.push(...page.map(({ event }) => event));
    }
    expect(read).toEqual(log);
    expect((await store.load(aliceTestTaskScope, "t"))?.task).toEqual(foldTestTaskEvents(log));
  });
});
