import { describe, expect, it } from "vitest";
import { MemoryStore } from "./memory.ts";
import { alice, append, birth, status } from "./logs.contract.ts";
import { registration } from "./push.contract.ts";
import { commitOne, storeContract } from "./store.contract.ts";

storeContract("MemoryStore", () => new MemoryStore());

describe("MemoryStore", () => {
  it("forgets the task that finished longest ago, with its messages [E14]", async () => {
    const store = new MemoryStore({ maxFinishedTasks: 2 });
    await commitOne(store, append("open", 0, [birth("open")]));
    for (const id of ["a", "b", "c"]) {
      const messages = [{ messageId: `m-${id}`, seq: 1 }];
      await commitOne(store, append(id, 0, [birth(id)], { messages }));
    }
    for (const id of ["b", "a", "c"]) {
      await commitOne(store, append(id, 1, [status(id, "TASK_STATE_COMPLETED")]));
    }
    expect(await store.load(alice, "b")).toBeUndefined();
    expect(await store.findMessage(alice, "m-b")).toBeUndefined();
    expect((await store.list(alice, { limit: 10 })).tasks.map(({ id }) => id)).toEqual(["open", "c", "a"]);
    expect(await store.findMessage(alice, "m-a")).toEqual({ taskId: "a", seq: 1 });
  });

  it("forgets a task's webhooks with the task [E14]", async () => {
    const store = new MemoryStore({ maxFinishedTasks: 1 });
    for (const id of ["a", "b"]) {
      await commitOne(store, append(id, 0, [birth(id)], { webhooks: [registration("w")] }));
      await commitOne(store, append(id, 1, [status(id, "TASK_STATE_COMPLETED")]));
    }
    expect(await store.push.list(alice, "a")).toBeUndefined();
    expect(await store.push.due(0, 10)).toMatchObject([{ taskId: "b", delivered: 0 }]);
  });

  it("refuses a bound that keeps nothing", () => {
    expect(() => new MemoryStore({ maxFinishedTasks: 0 })).toThrow("whole number of at least 1");
  });
});
