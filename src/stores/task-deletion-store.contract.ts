import { beforeEach, describe, expect, it } from "vitest";
import type {
  DeletableTask,
  StoppedTaskQuery,
  TaskDeletionStore,
  TaskSelector,
} from "./task-deletion-store.ts";
import { TASK_STATES, isInterrupted, isTerminal, type TaskState } from "../protocol/index.ts";
import { createTestWebhookRegistration } from "./push-store.contract.ts";
import {
  aliceTestTaskScope,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
  createTestUserMessage,
  foldTestTaskEvents,
  formatTestTime,
  loadTestTask,
  listDueTestWebhooks,
} from "./task-event-logs.fixture.ts";
import type { TestStore } from "./test-store.fixture.ts";

const ALL_EVENTS = { events: 1000, maxBytes: 10_000_000 };
const GENEROUS_BUDGET = { budgetMs: 60_000 };
/** A budget that is used up after the smallest possible step. */
const NO_TIME = { budgetMs: 0 };

/**
 * Defines the contract tests for the deletion of tasks. `getStore` returns the open, empty store of the
 * running test. `append` commits an append to that store.
 */
export function defineTaskDeletionStoreContract(
  getStore: () => TestStore,
  append: (...args: Parameters<typeof createTestLogAppend>) => Promise<void>,
): void {
  describe("a deletion", () => {
    let store: TestStore;
    let deletion: TaskDeletionStore;

    beforeEach(() => {
      store = getStore();
      expect(store.deletionStore).toBeDefined();
      deletion = store.deletionStore;
    });

    /** Stores a task with the message `m-ID` that has `state` since `time`. */
    async function storeTask(
      id: string,
      state: TaskState,
      time: number,
      options: Parameters<typeof append>[3] = {},
    ): Promise<void> {
      const first = createTestSubmittedTaskEvent(id, { message: createTestUserMessage(`m-${id}`), time });
      const messages = [{ messageId: `m-${id}`, seq: 1 }];
      await append(id, 0, [first, createTestChunkEvent(id, id)], { messages, ...options });
      const scope = options.scope ? { scope: options.scope } : {};
      await append(id, 2, [createTestStatusEvent(id, state, time)], scope);
    }

    const list = (query: Partial<StoppedTaskQuery> = {}): Promise<DeletableTask[]> =>
      deletion.listStoppedTasks({ status: "ended", before: formatTestTime(1000), limit: 100, ...query });
    const find = (selector: TaskSelector): Promise<DeletableTask[]> =>
      deletion.findMatchingTasks(selector, 100);
    const getTaskIds = (tasks: readonly DeletableTask[]): string[] => tasks.map(({ taskId }) => taskId);

    /** Returns the listed ids of alice's tasks, in the order of the ids. */
    async function listAliceIds(): Promise<string[]> {
      const { tasks } = await store.list(aliceTestTaskScope, { limit: 100 });
      return tasks.map(({ id }) => id).toSorted();
    }

    it("keeps the record of the last sweep, and replaces it [E14]", async () => {
      const record = { wallMs: Date.UTC(2026, 0, 1), aheadMs: 0, delayedMs: 0, wasSetBack: false };
      const jumped = {
        wallMs: record.wallMs + 8.64e9,
        aheadMs: 8.64e9,
        delayedMs: 3_600_000,
        wasSetBack: true,
      };
      expect((await deletion.sweepClock?.read())?.record).toBeUndefined();
      for (const next of [record, jumped]) {
        await deletion.sweepClock?.write(next);
        expect((await deletion.sweepClock?.read())?.record).toEqual(next);
      }
    });

    it("lists ended and waiting tasks of all scopes separately, oldest first", async () => {
      for (const [at, state] of TASK_STATES.entries()) await storeTask(state, state, at);
      await storeTask("bob's", "TASK_STATE_FAILED", 50, { scope: bobTestTaskScope });
      expect(getTaskIds(await list())).toEqual([...TASK_STATES.filter(isTerminal), "bob's"]);
      expect(getTaskIds(await list({ status: "waiting" }))).toEqual(TASK_STATES.filter(isInterrupted));
      expect((await list()).at(-1)).toMatchObject({
        scope: bobTestTaskScope,
        state: "TASK_STATE_FAILED",
        timestamp: formatTestTime(50),
        hasEvents: true,
        hasPendingWebhooks: false,
      });
    });

    it("lists a task by its newest status only", async () => {
      await storeTask("t", "TASK_STATE_INPUT_REQUIRED", 1);
      await append("t", 3, [createTestStatusEvent("t", "TASK_STATE_WORKING", 2)]);
      expect(await list({ status: "waiting" })).toEqual([]);
      await append("t", 4, [createTestStatusEvent("t", "TASK_STATE_AUTH_REQUIRED", 3)]);
      expect(await list({ status: "waiting" })).toMatchObject([{ timestamp: formatTestTime(3) }]);
      await append("t", 5, [createTestStatusEvent("t", "TASK_STATE_CANCELED", 4)]);
      expect(await list({ status: "waiting" })).toEqual([]);
      expect(getTaskIds(await list())).toEqual(["t"]);
    });

    it("lists the tasks before a time in pages that contain every task once", async () => {
      const ids = ["a", "b", "c", "d", "e"];
      for (const id of ids) await storeTask(id, "TASK_STATE_COMPLETED", 5);
      await storeTask("late", "TASK_STATE_COMPLETED", 6);
      const found: string[] = [];
      let after: DeletableTask | undefined;
      do {
        const page = await list({ before: formatTestTime(6), after, limit: 2 });
        found.push(...getTaskIds(page));
        after = page.at(-1);
      } while (after);
      expect(found).toEqual(ids);
    });

    it("reports tasks with webhooks that have not received all events", async () => {
      await storeTask("t", "TASK_STATE_COMPLETED", 1, { webhooks: [createTestWebhookRegistration("w")] });
      expect(await list()).toMatchObject([{ hasPendingWebhooks: true }]);
      const [webhook] = await listDueTestWebhooks(store.pushStore);
      await store.pushStore?.saveProgress([{ key: webhook?.key ?? 0, deliveredSeq: 3, isFinished: true }]);
      expect(await list()).toMatchObject([{ hasPendingWebhooks: false }]);
    });

    it("of events keeps the task and its message ids", async () => {
      await storeTask("t", "TASK_STATE_COMPLETED", 1);
      const stored = await loadTestTask(store, aliceTestTaskScope, "t");
      expect(await deletion.deleteEvents(await list(), GENEROUS_BUDGET)).toBe(1);
      expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual(stored);
      expect(await store.list(aliceTestTaskScope, { limit: 10 })).toMatchObject({ total: 1 });
      expect(await store.findMessage(aliceTestTaskScope, "m-t")).toEqual({ taskId: "t", seq: 1 });
      for (let after = 0; after <= 3; after++)
        expect(await store.readEvents(aliceTestTaskScope, "t", after, ALL_EVENTS)).toEqual([]);
      expect(await list()).toMatchObject([{ taskId: "t", hasEvents: false }]);
      const late = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")]);
      expect(await store.commit([late])).toEqual(["conflict"]);
      expect(await deletion.deleteEvents(await list(), GENEROUS_BUDGET)).toBe(1);
      expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual(stored);
    });

    it("of a task removes everything, and only of this task", async () => {
      const turn = { seq: 1, attempt: 1, request: {}, service: {} };
      const webhooks = [createTestWebhookRegistration("w")];
      await storeTask("t", "TASK_STATE_COMPLETED", 1, { webhooks, turn });
      await storeTask("t", "TASK_STATE_COMPLETED", 2, { scope: bobTestTaskScope });
      await storeTask("other", "TASK_STATE_COMPLETED", 3);
      const [first] = await list();
      expect(await deletion.deleteTasks(first ? [first] : [], GENEROUS_BUDGET)).toBe(1);
      expect(await store.load(aliceTestTaskScope, "t")).toBeUndefined();
      expect(await store.readEvents(aliceTestTaskScope, "t", 0, ALL_EVENTS)).toEqual([]);
      expect(await store.findMessage(aliceTestTaskScope, "m-t")).toBeUndefined();
      expect(await store.pushStore?.list(aliceTestTaskScope, "t")).toBeUndefined();
      expect(await listDueTestWebhooks(store.pushStore)).toEqual([]);
      expect(await listAliceIds()).toEqual(["other"]);
      expect(getTaskIds(await list())).toEqual(["t", "other"]);
      expect(await store.load(bobTestTaskScope, "t")).toMatchObject({ seq: 3 });
      // The ids can be used again.
      await storeTask("t", "TASK_STATE_COMPLETED", 4);
      expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 3 });
      expect(await store.pushStore?.list(aliceTestTaskScope, "t")).toEqual([]);
    });

    it("stops before a task in use", async () => {
      for (const [at, id] of ["a", "used", "c"].entries()) await storeTask(id, "TASK_STATE_COMPLETED", at);
      const options = { ...GENEROUS_BUDGET, isInUse: ({ taskId }: DeletableTask) => taskId === "used" };
      expect(await deletion.deleteEvents(await list(), options)).toBe(1);
      expect((await list()).map(({ hasEvents }) => hasEvents)).toEqual([false, true, true]);
      expect(await deletion.deleteTasks(await list(), options)).toBe(1);
      expect(getTaskIds(await list())).toEqual(["used", "c"]);
      expect(await deletion.deleteTasks(await list(), options)).toBe(0);
    });

    it("of all tasks of a scope removes the scope, which can then be used again", async () => {
      for (let round = 0; round < 3; round++) {
        await storeTask("t", "TASK_STATE_COMPLETED", round);
        expect(await deletion.deleteTasks(await list(), GENEROUS_BUDGET)).toBe(1);
        expect(await store.list(aliceTestTaskScope, { limit: 10 })).toMatchObject({ total: 0 });
      }
    });

    it("of a task that waits makes later appends conflict", async () => {
      await storeTask("t", "TASK_STATE_INPUT_REQUIRED", 1);
      await deletion.deleteTasks(await list({ status: "waiting" }), GENEROUS_BUDGET);
      const late = createTestLogAppend("t", 3, [createTestChunkEvent("t", "late")]);
      expect(await store.commit([late])).toEqual(["conflict"]);
      expect(await list({ status: "waiting" })).toEqual([]);
    });

    it("of a long log ends in steps, and the task is complete or gone after every step", async () => {
      const log = [createTestSubmittedTaskEvent("t")];
      await append("t", 0, log);
      for (let n = 1; n <= 100; n++) {
        const event =
          n < 100 ? createTestChunkEvent("t", `${n} `) : createTestStatusEvent("t", "TASK_STATE_FAILED", 1);
        log.push(event);
        await append("t", n, [event]);
      }
      for (let rest = await list(); rest.length > 0;) {
        rest = rest.slice(await deletion.deleteEvents(rest, NO_TIME));
        expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({
          task: foldTestTaskEvents(log),
          seq: 101,
        });
        for (const after of [0, 40, 100]) {
          const events = await store.readEvents(aliceTestTaskScope, "t", after, ALL_EVENTS);
          if (events.length > 0) expect(events.map(({ event }) => event)).toEqual(log.slice(after));
        }
      }
      expect(await store.readEvents(aliceTestTaskScope, "t", 50, ALL_EVENTS)).toEqual([]);

      await append("u", 0, [createTestSubmittedTaskEvent("u")]);
      for (let n = 1; n <= 100; n++) await append("u", n, [createTestChunkEvent("u", `${n} `)]);
      await append("u", 101, [createTestStatusEvent("u", "TASK_STATE_FAILED", 1)]);
      for (let rest = await list(); rest.length > 0;) {
        rest = rest.slice(await deletion.deleteTasks(rest, NO_TIME));
        expect(await listAliceIds()).toEqual(getTaskIds(rest));
      }
      // The remaining events do not belong to a new task.
      await storeTask("u", "TASK_STATE_COMPLETED", 2);
      for (let hasMore = true; hasMore;) hasMore = await deletion.deleteRemnants(NO_TIME);
      expect(await store.load(aliceTestTaskScope, "u")).toMatchObject({ seq: 3 });
      expect(await store.readEvents(aliceTestTaskScope, "u", 0, ALL_EVENTS)).toHaveLength(3);
    });

    it("finds tasks in any state by task, context, principal, tenant, and agent", async () => {
      await storeTask("a", "TASK_STATE_COMPLETED", 1);
      await storeTask("b", "TASK_STATE_WORKING", 2, { contextId: "other" });
      await storeTask("a", "TASK_STATE_COMPLETED", 3, { scope: bobTestTaskScope });
      await storeTask("c", "TASK_STATE_COMPLETED", 4, { scope: { ...aliceTestTaskScope, tenant: "second" } });
      await storeTask("d", "TASK_STATE_COMPLETED", 5, { scope: { ...aliceTestTaskScope, agent: "second" } });
      const ids = async (selector: TaskSelector): Promise<string[]> =>
        getTaskIds(await find(selector)).toSorted();
      expect(await ids({ taskId: "a" })).toEqual(["a", "a"]);
      expect(await ids({ taskId: "a", principal: "bob" })).toEqual(["a"]);
      expect(await ids({ contextId: "other" })).toEqual(["b"]);
      expect(await ids({ principal: "alice" })).toEqual(["a", "b", "c", "d"]);
      expect(await ids({ principal: "alice", tenant: "acme" })).toEqual(["a", "b", "d"]);
      expect(await ids({ principal: "alice", agent: "second" })).toEqual(["d"]);
      expect(await ids({ principal: "carol" })).toEqual([]);
      expect(await deletion.findMatchingTasks({ principal: "alice" }, 2)).toHaveLength(2);
    });

    it("reduces the measured size", async () => {
      for (let n = 0; n < 200; n++) await storeTask(`t${n}-${"x".repeat(200)}`, "TASK_STATE_COMPLETED", n);
      const full = await deletion.measureSize();
      for (let rest = await list({ limit: 200 }); rest.length > 0;)
        rest = rest.slice(await deletion.deleteTasks(rest, GENEROUS_BUDGET));
      const empty = await deletion.measureSize();
      expect(full.usedBytes).toBeGreaterThan(200 * 500);
      expect(empty.usedBytes).toBeLessThan(full.usedBytes / 2);
      for (let hasMore = true; hasMore;) hasMore = await deletion.returnFreeSpace({ budgetMs: 1, all: true });
      expect(await deletion.measureSize()).toMatchObject({ freeBytes: 0 });
      await deletion.flushDeletions();
    });
  });
}
