import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogAppend, TaskScope, TaskStore } from "../engine/index.ts";
import {
  aliceTestTaskScope,
  idleTestTaskLease,
  loadTestTask,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  bobTestTaskScope,
  createTestChunkEvent,
  foldTestTaskEvents,
  createTestUserMessage,
  createTestStatusEvent,
} from "./task-event-logs.fixture.ts";
import { definePushStoreContract } from "./push-store.contract.ts";
import { defineFinishedStepsContract } from "./finished-steps.contract.ts";
import { defineTaskLeaseContract } from "./task-lease.contract.ts";
import { defineTaskDeletionStoreContract } from "./task-deletion-store.contract.ts";
import { defineTaskOverviewContract } from "./task-overview.contract.ts";
import { defineTextIndexContract } from "./text-index.contract.ts";
import { defineTaskListContract } from "./task-list.contract.ts";
import { defineTaskLogContract } from "./task-log.contract.ts";
import { defineStoredTurnsContract } from "./stored-turns.contract.ts";
import type { ServerStore } from "./server-store.ts";
import type { TestStore } from "./test-store.fixture.ts";

const GENEROUS_TEST_READ_LIMIT = { events: 1000, maxBytes: 1_000_000 };

/** Commits one append and expects it to succeed. */
export async function commitTestAppendExpectingSuccess(store: TaskStore, one: LogAppend): Promise<void> {
  expect(await store.commit([one])).toEqual([undefined]);
}

/**
 * Defines the contract tests for every store. `createStore` returns a new, empty store that is not open yet.
 * `hasOverview` is false for a store without the optional overview.
 */
export function defineTaskStoreContract(
  name: string,
  createStore: () => ServerStore,
  { hasOverview = true }: { readonly hasOverview?: boolean } = {},
): void {
  describe(`${name} as a task store`, () => {
    let store: TestStore;

    beforeEach(async () => {
      store = createStore() as TestStore;
      await store.open();
    });

    afterEach(() => store.close());

    const append = (...args: Parameters<typeof createTestLogAppend>): Promise<void> =>
      commitTestAppendExpectingSuccess(store, createTestLogAppend(...args));

    defineTaskLogContract(() => store, append);
    defineStoredTurnsContract(() => store, append);
    definePushStoreContract(() => store, append);
    defineTaskLeaseContract(() => store, append);
    defineFinishedStepsContract(() => store, append);
    defineTaskDeletionStoreContract(() => store, append);
    defineTaskListContract(() => store, append);
    if (hasOverview) {
      defineTaskOverviewContract(() => store);
      defineTextIndexContract(() => store);
    }

    describe("an append", () => {
      const first = [
        createTestSubmittedTaskEvent("t", { message: createTestUserMessage("m1") }),
        createTestStatusEvent("t", "TASK_STATE_WORKING"),
      ];
      const done = { messages: [{ messageId: "m1", seq: 1 }] };

      beforeEach(() => append("t", 0, first, done));

      async function unchanged(): Promise<void> {
        expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual({
          task: foldTestTaskEvents(first),
          seq: 2,
          ...idleTestTaskLease,
        });
        expect(await store.readEvents(aliceTestTaskScope, "t", 0, GENEROUS_TEST_READ_LIMIT)).toHaveLength(2);
      }

      it("is rejected when the log is longer or shorter than expected [E1]", async () => {
        const late = createTestLogAppend("t", 1, [createTestChunkEvent("t", "late")], {
          messages: [{ messageId: "m2", seq: 2 }],
        });
        const early = createTestLogAppend("t", 3, [createTestChunkEvent("t", "early")]);
        const unborn = createTestLogAppend("u", 1, [createTestChunkEvent("u", "unborn")]);
        const again = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")]);
        const refused = Array.from({ length: 4 }, () => "conflict");
        expect(await store.commit([late, early, unborn, again])).toEqual(refused);
        await unchanged();
        expect(await store.findMessage(aliceTestTaskScope, "m2")).toBeUndefined();
        expect(await store.load(aliceTestTaskScope, "u")).toBeUndefined();
      });

      it("is rejected as a unit when one of its messages is known [E10]", async () => {
        const twice = [
          { messageId: "m2", seq: 3 },
          { messageId: "m1", seq: 4 },
        ];
        const events = [{ message: createTestUserMessage("m2") }, { message: createTestUserMessage("m1") }];
        expect(await store.commit([createTestLogAppend("t", 2, events, { messages: twice })])).toEqual([
          "duplicate-message",
        ]);
        expect(
          await store.commit([createTestLogAppend("u", 0, [createTestSubmittedTaskEvent("u")], done)]),
        ).toEqual(["duplicate-message"]);
        await unchanged();
        expect(await store.load(aliceTestTaskScope, "u")).toBeUndefined();
        expect(await store.findMessage(aliceTestTaskScope, "m2")).toBeUndefined();
        expect(await store.findMessage(aliceTestTaskScope, "m1")).toEqual({ taskId: "t", seq: 1 });
      });

      it("is rejected when an earlier append of its batch has the same message [E10]", async () => {
        const one = { messages: [{ messageId: "m9", seq: 1 }] };
        expect(
          await store.commit([
            createTestLogAppend("x", 0, [createTestSubmittedTaskEvent("x")], one),
            createTestLogAppend("y", 0, [createTestSubmittedTaskEvent("y")], one),
          ]),
        ).toEqual([undefined, "duplicate-message"]);
        expect(await store.findMessage(aliceTestTaskScope, "m9")).toEqual({ taskId: "x", seq: 1 });
        expect(await store.load(aliceTestTaskScope, "y")).toBeUndefined();
      });

      it("that is rejected does not affect the others of its batch", async () => {
        const batch = [
          createTestLogAppend("a", 0, [createTestSubmittedTaskEvent("a")]),
          createTestLogAppend("t", 7, [createTestChunkEvent("t", "late")]),
          createTestLogAppend("u", 0, [createTestSubmittedTaskEvent("u")], done),
          createTestLogAppend("t", 2, [createTestChunkEvent("t", "good")], {
            messages: [{ messageId: "m3", seq: 3 }],
          }),
        ];
        expect(await store.commit(batch)).toEqual([undefined, "conflict", "duplicate-message", undefined]);
        expect(await store.load(aliceTestTaskScope, "a")).toMatchObject({ seq: 1 });
        expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 3 });
        expect(await store.findMessage(aliceTestTaskScope, "m3")).toEqual({ taskId: "t", seq: 3 });
      });
    });

    describe("a scope", () => {
      const strangers: TaskScope[] = [
        { ...aliceTestTaskScope, tenant: "" },
        { ...aliceTestTaskScope, principal: "bob" },
        { ...aliceTestTaskScope, agent: "other" },
        // The same characters, split differently.
        { tenant: "acm", principal: "ealice", agent: "echo" },
        { tenant: "acme", principal: "alic", agent: "eecho" },
      ];

      it.for(strangers)("$tenant/$principal/$agent sees no tasks of other scopes [E13]", async (stranger) => {
        const messages = [{ messageId: "m1", seq: 1 }];
        await append("t", 0, [createTestSubmittedTaskEvent("t")], { messages });
        expect(await store.load(stranger, "t")).toBeUndefined();
        expect(await store.readEvents(stranger, "t", 0, GENEROUS_TEST_READ_LIMIT)).toEqual([]);
        expect(await store.list(stranger, { limit: 10 })).toEqual({ tasks: [], hasMore: false, total: 0 });
        expect(await store.findMessage(stranger, "m1")).toBeUndefined();
        expect(
          await store.commit([
            createTestLogAppend("t", 1, [createTestChunkEvent("t", "x")], { scope: stranger }),
          ]),
        ).toEqual(["conflict"]);
        expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual({
          task: foldTestTaskEvents([createTestSubmittedTaskEvent("t")]),
          seq: 1,
          ...idleTestTaskLease,
        });
      });

      it("has separate ids: the same ids in another scope are other tasks and messages [E13]", async () => {
        const messages = [{ messageId: "m1", seq: 1 }];
        await append("t", 0, [createTestSubmittedTaskEvent("t")], { messages });
        await append("t", 0, [createTestSubmittedTaskEvent("t"), createTestChunkEvent("t", "bob's")], {
          messages,
          scope: bobTestTaskScope,
        });
        expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 1 });
        expect(await store.load(bobTestTaskScope, "t")).toMatchObject({ seq: 2 });
        await append("t", 1, [createTestStatusEvent("t", "TASK_STATE_FAILED")]);
        expect(await store.load(bobTestTaskScope, "t")).toMatchObject({
          seq: 2,
          task: { status: { state: "TASK_STATE_SUBMITTED" } },
        });
        expect((await store.list(bobTestTaskScope, { limit: 10 })).total).toBe(1);
      });
    });

    it("knows whether a loaded task is unchanged", async () => {
      const isUnchanged = async (seq: number, epoch = 0, scope = aliceTestTaskScope): Promise<unknown> =>
        await store.turns.isUnchanged(scope, "t", { seq, epoch });
      const queued = { position: 1, message: createTestUserMessage("q"), request: {}, service: {} };
      expect(await isUnchanged(1)).toBe(false);
      await append("t", 0, [createTestSubmittedTaskEvent("t")]);
      expect([await isUnchanged(1), await isUnchanged(0), await isUnchanged(1, 1)]).toEqual([
        true,
        false,
        false,
      ]);
      expect(await isUnchanged(1, 0, bobTestTaskScope)).toBe(false);
      await append("t", 1, [], { queueChange: { added: [queued] } });
      expect(await isUnchanged(1)).toBe(false);
      await append("t", 1, [], { queueChange: { added: [], removedThrough: 1 }, hasRunningTurn: true });
      expect(await isUnchanged(1)).toBe(false);
      await append("t", 1, [createTestChunkEvent("t", "a")], { hasRunningTurn: false });
      expect([await isUnchanged(1), await isUnchanged(2)]).toEqual([false, true]);
      const tasks = await store.deletionStore.findMatchingTasks({ taskId: "t" }, 1);
      await store.deletionStore.deleteTasks(tasks, { budgetMs: 1000 });
      expect(await isUnchanged(2)).toBe(false);
    });
  });
}
