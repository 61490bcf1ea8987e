import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogAppend, TaskStore } from "../engine/index.ts";
import {
  aliceTestTaskScope,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestUserMessage,
} from "./task-event-logs.fixture.ts";
import { definePushStoreContract } from "./push-store.contract.ts";
import { defineFinishedStepsContract } from "./finished-steps.contract.ts";
import { defineTaskLeaseContract } from "./task-lease.contract.ts";
import { defineTaskDeletionStoreContract } from "./task-deletion-store.contract.ts";
import { defineTaskOverviewContract } from "./task-overview.contract.ts";
import { defineTextIndexContract } from "./text-index.contract.ts";
import { defineTaskListContract } from "./task-list.contract.ts";
import { TASK_STORE_RULES } from "./testing/index.ts";
import { defineTaskLogContract } from "./task-log.contract.ts";
import { defineStoredTurnsContract } from "./stored-turns.contract.ts";
import type { ServerStore } from "./server-store.ts";
import type { TestStore } from "./test-store.fixture.ts";

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

    it.each(TASK_STORE_RULES)("$title [E1, E10, E11, E13]", async ({ check }) => {
      await expect(check(store)).resolves.toBeUndefined();
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
