import { describe, expect, it } from "vitest";
import { MemoryStore } from "./memory-store.ts";
import {
  aliceScope,
  createAppend,
  createSubmittedTaskEvent,
  createStatusEvent,
} from "./task-event-logs.fixture.ts";
import { createWebhookRegistration } from "./push-store.contract.ts";
import { commitAppend, defineTaskStoreContract } from "./task-store.contract.ts";

defineTaskStoreContract("MemoryStore", () => new MemoryStore());

describe("MemoryStore", () => {
  it("evicts the task that finished first, with its messages [E14]", async () => {
    const store = new MemoryStore({ maxFinishedTasks: 2 });
    await commitAppend(store, createAppend("open", 0, [createSubmittedTaskEvent("open")]));
    for (const id of ["a", "b", "c"]) {
      const messages = [{ messageId: `m-${id}`, seq: 1 }];
      await commitAppend(store, createAppend(id, 0, [createSubmittedTaskEvent(id)], { messages }));
    }
    for (const id of ["b", "a", "c"]) {
      await commitAppend(store, createAppend(id, 1, [createStatusEvent(id, "TASK_STATE_COMPLETED")]));
    }
    expect(await store.load(aliceScope, "b")).toBeUndefined();
    expect(await store.findMessage(aliceScope, "m-b")).toBeUndefined();
    expect((await store.list(aliceScope, { limit: 10 })).tasks.map(({ id }) => id)).toEqual([
      "open",
      "c",
      "a",
    ]);
    expect(await store.findMessage(aliceScope, "m-a")).toEqual({ taskId: "a", seq: 1 });
  });

  it("evicts a task's webhooks with the task [E14]", async () => {
    const store = new MemoryStore({ maxFinishedTasks: 1 });
    for (const id of ["a", "b"]) {
      await commitAppend(
        store,
        createAppend(id, 0, [createSubmittedTaskEvent(id)], { webhooks: [createWebhookRegistration("w")] }),
      );
      await commitAppend(store, createAppend(id, 1, [createStatusEvent(id, "TASK_STATE_COMPLETED")]));
    }
    expect(await store.pushStore.list(aliceScope, "a")).toBeUndefined();
    expect(await store.pushStore.listDueWebhooks(0, 10)).toMatchObject([{ taskId: "b", deliveredSeq: 0 }]);
  });

  it("rejects a limit of zero tasks", () => {
    expect(() => new MemoryStore({ maxFinishedTasks: 0 })).toThrow("integer of at least 1");
  });
});
