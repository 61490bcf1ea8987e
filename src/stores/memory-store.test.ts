import { describe, expect, it } from "vitest";
import { MemoryPushStore } from "./memory-push-store.ts";
import { MemoryStore } from "./memory-store.ts";
import {
  aliceTestTaskScope,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  createTestStatusEvent,
} from "./task-event-logs.fixture.ts";
import { createTestWebhookRegistration } from "./push-store.contract.ts";
import { commitTestAppendExpectingSuccess, defineTaskStoreContract } from "./task-store.contract.ts";

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
    expect(await store.pushStore.listDueWebhooks(0, 10)).toMatchObject([{ taskId: "b", deliveredSeq: 0 }]);
  });

  it("finds due webhooks without a look at the webhooks that are not due", async () => {
    let lookupCount = 0;
    const webhooks = new MemoryPushStore((_, taskId) => {
      lookupCount++;
      return { seq: taskId === "due" ? 2 : 1, state: "TASK_STATE_WORKING" };
    });
    for (let n = 0; n < 1_000; n++)
      webhooks.register(aliceTestTaskScope, `t${n}`, 1, createTestWebhookRegistration("w"));
    webhooks.register(aliceTestTaskScope, "due", 1, createTestWebhookRegistration("w"));
    lookupCount = 0;
    expect(await webhooks.listDueWebhooks(0, 10)).toMatchObject([{ key: 1_001, taskId: "due" }]);
    webhooks.notifyCommit(aliceTestTaskScope, "t7", 2);
    expect(await webhooks.listDueWebhooks(0, 10)).toMatchObject([{ key: 8 }, { key: 1_001 }]);
    expect(lookupCount).toBe(0);
  });

  it("rejects a limit of zero tasks", () => {
    expect(() => new MemoryStore({ maxFinishedTasks: 0 })).toThrow("integer of at least 1");
  });
});
