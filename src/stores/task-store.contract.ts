import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogAppend, QueuedTurnData, TaskScope, TaskStore } from "../engine/index.ts";
import { copyTask, text, type TaskEvent } from "../protocol/index.ts";
import {
  aliceTestTaskScope,
  idleTestTaskLease,
  loadTestTask,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  bobTestTaskScope,
  createTestChunkEvent,
  splitTestListBySizes,
  createSplitLogArbitrary,
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

const GENEROUS_TEST_READ_LIMIT = { events: 1000, maxBytes: 1_000_000 };

/** Commits one append and expects it to succeed. */
export async function commitTestAppendExpectingSuccess(store: TaskStore, one: LogAppend): Promise<void> {
  expect(await store.commit([one])).toEqual([undefined]);
}

/**
 * Creates a snapshot of the task. The bits of `referenceBits` decide which artifacts the snapshot references in
 * the log, and whether a reference begins with the first or with the last possible event.
 */
function createTestSnapshot(
  log: readonly TaskEvent[],
  referenceBits: number,
): Pick<LogAppend, "snapshot" | "artifactReferences"> {
  const snapshot = copyTask(foldTestTaskEvents(log));
  const artifactReferences = (snapshot.artifacts ?? []).flatMap(({ artifactId }, at) => {
    if (!((referenceBits >> (2 * at)) & 1)) return [];
    const isBegin = (event: TaskEvent, index: number): boolean =>
      "artifactUpdate" in event &&
      event.artifactUpdate.artifact.artifactId === artifactId &&
      (!event.artifactUpdate.append || !hasArtifact(log.slice(0, index), artifactId));
    return { artifactId, fromSeq: (referenceBits >> (2 * at + 1)) & 1 ? 1 : log.findLastIndex(isBegin) + 1 };
  });
  return { snapshot, artifactReferences };
}

function hasArtifact(log: readonly TaskEvent[], artifactId: string): boolean {
  return log.some(
    (event) => "artifactUpdate" in event && event.artifactUpdate.artifact.artifactId === artifactId,
  );
}

/**
 * Defines the contract tests for every store. `createStore` returns a new, empty store that is not open yet.
 * `hasOverview` is false for a store without the optional overview.
 */
export function defineTaskStoreContract(
  name: string,
  createStore: () => TaskStore,
  { hasOverview = true }: { readonly hasOverview?: boolean } = {},
): void {
  describe(`${name} as a task store`, () => {
    let store: TaskStore;

    beforeEach(async () => {
      store = createStore();
      await store.open();
    });

    afterEach(() => store.close());

    const append = (...args: Parameters<typeof createTestLogAppend>): Promise<void> =>
      commitTestAppendExpectingSuccess(store, createTestLogAppend(...args));

    definePushStoreContract(() => store, append);
    defineTaskLeaseContract(() => store, append);
    defineFinishedStepsContract(() => store, append);
    defineTaskDeletionStoreContract(() => store, append);
    defineTaskListContract(() => store, append);
    if (hasOverview) {
      defineTaskOverviewContract(() => store);
      defineTextIndexContract(() => store);
    }

    describe("a log", () => {
      it("is read back as it was appended, numbered from 1 without a gap [E1]", async () => {
        const log = [
          createTestSubmittedTaskEvent("t"),
          createTestStatusEvent("t", "TASK_STATE_WORKING"),
          createTestChunkEvent("t", "a"),
          createTestChunkEvent("t", "b"),
        ];
        await append("t", 0, log.slice(0, 2));
        await append("t", 2, log.slice(2));
        const events = await store.readEvents(aliceTestTaskScope, "t", 0, GENEROUS_TEST_READ_LIMIT);
        expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
        expect(events.map(({ event }) => event)).toEqual(log);
        expect(events.map(({ jsonText: json }) => json)).toEqual(log.map((event) => JSON.stringify(event)));
        expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual({
          task: foldTestTaskEvents(log),
          seq: 4,
          ...idleTestTaskLease,
        });
      });

      it("accepts several appends in one batch, for several tasks", async () => {
        const batch = [
          createTestLogAppend("a", 0, [createTestSubmittedTaskEvent("a")]),
          createTestLogAppend("b", 0, [
            createTestSubmittedTaskEvent("b"),
            createTestStatusEvent("b", "TASK_STATE_COMPLETED"),
          ]),
          createTestLogAppend("a", 1, [
            createTestStatusEvent("a", "TASK_STATE_WORKING"),
            createTestChunkEvent("a", "x"),
          ]),
        ];
        expect(await store.commit(batch)).toEqual([undefined, undefined, undefined]);
        expect(await store.load(aliceTestTaskScope, "a")).toMatchObject({
          seq: 3,
          task: { artifacts: [{ parts: [{ text: "x" }] }] },
        });
        expect(await store.load(aliceTestTaskScope, "b")).toMatchObject({
          seq: 2,
          task: { status: { state: "TASK_STATE_COMPLETED" } },
        });
      });

      it("of an unknown task has no task and no events", async () => {
        expect(await store.load(aliceTestTaskScope, "t")).toBeUndefined();
        expect(await store.readEvents(aliceTestTaskScope, "t", 0, GENEROUS_TEST_READ_LIMIT)).toEqual([]);
      });

      it("loads a copy of the task", async () => {
        const log = [createTestSubmittedTaskEvent("t"), createTestChunkEvent("t", "a")];
        await append("t", 0, log);
        const loaded = await store.load(aliceTestTaskScope, "t");
        if (loaded) {
          loaded.task.artifacts?.[0]?.parts.push(text("mine"));
          loaded.task.status = { state: "TASK_STATE_FAILED" };
        }
        expect(await loadTestTask(store, aliceTestTaskScope, "t")).toEqual({
          task: foldTestTaskEvents(log),
          seq: 2,
          ...idleTestTaskLease,
        });
      });

      it("loads as the fold of its events for any split into appends and batches [E1]", async () => {
        let count = 0;
        const batchSizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 41, maxLength: 41 });
        await fc.assert(
          fc.asyncProperty(createSplitLogArbitrary("t"), batchSizes, async (pieces, sizes) => {
            const id = `task-${++count}`;
            const log: TaskEvent[] = [];
            for (const batch of splitTestListBySizes(pieces, sizes)) {
              const appends = batch.map((events) => {
                const one = createTestLogAppend(id, log.length, events);
                log.push(...events);
                return one;
              });
              expect(await store.commit(appends)).toEqual(appends.map(() => undefined));
              expect(await loadTestTask(store, aliceTestTaskScope, id)).toEqual({
                task: foldTestTaskEvents(log),
                seq: log.length,
                ...idleTestTaskLease,
              });
            }
            for (let after = 0; after <= log.length; after++) {
              const tail = await store.readEvents(aliceTestTaskScope, id, after, GENEROUS_TEST_READ_LIMIT);
              expect(tail.map(({ event }) => event)).toEqual(log.slice(after));
            }
          }),
          { numRuns: 60 },
        );
      });

      it("is read in pieces, from any position, without gaps or overlaps", async () => {
        const log = [
          createTestSubmittedTaskEvent("t"),
          ...Array.from({ length: 30 }, (_, n) => createTestChunkEvent("t", "x".repeat(n))),
        ];
        await append("t", 0, log);
        const limits = fc.record({
          events: fc.integer({ min: 1, max: 40 }),
          maxBytes: fc.integer({ min: 0, max: 3000 }),
        });
        await fc.assert(
          fc.asyncProperty(fc.nat({ max: log.length }), limits, async (start, limit) => {
            const read: TaskEvent[] = [];
            while (start + read.length < log.length) {
              const piece = await store.readEvents(aliceTestTaskScope, "t", start + read.length, limit);
              expect(piece.length).toBeGreaterThan(0);
              read.push(...piece.map(({ event }) => event));
            }
            expect(read).toEqual(log.slice(start));
          }),
        );
      });

      it("is read up to a limit of events and of bytes, including the event that exceeds it", async () => {
        const log = [
          createTestSubmittedTaskEvent("t"),
          createTestChunkEvent("t", "é".repeat(500)),
          createTestChunkEvent("t", "b"),
          createTestChunkEvent("t", "c"),
        ];
        await append("t", 0, log);
        const [first = 0, second = 0] = log.map(
          (event) => new TextEncoder().encode(JSON.stringify(event)).length,
        );
        async function lengthOf(limit: { events: number; maxBytes: number }): Promise<number> {
          return (await store.readEvents(aliceTestTaskScope, "t", 0, limit)).length;
        }
        expect(await lengthOf({ events: 3, maxBytes: 1_000_000 })).toBe(3);
        expect(await lengthOf({ events: 10, maxBytes: 0 })).toBe(1);
        expect(await lengthOf({ events: 10, maxBytes: first })).toBe(2);
        expect(await lengthOf({ events: 10, maxBytes: first + second - 1 })).toBe(2);
        expect(await lengthOf({ events: 10, maxBytes: first + second })).toBe(3);
        expect(await store.readEvents(aliceTestTaskScope, "t", 4, GENEROUS_TEST_READ_LIMIT)).toEqual([]);
        expect(await store.readEvents(aliceTestTaskScope, "t", 9, GENEROUS_TEST_READ_LIMIT)).toEqual([]);
      });
    });

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

    it("stores the newest turn of a task until it is deleted [E9]", async () => {
      const turn = { seq: 1, attempt: 1, request: { metadata: { a: 1 } }, service: { version: "0.3" } };
      const listTurns = async (): Promise<unknown[]> =>
        (await store.listUnfinished()).map((task) => task.turn);
      await append("t", 0, [createTestSubmittedTaskEvent("t")], { turn, hasRunningTurn: true });
      expect(await listTurns()).toEqual([turn]);
      await append("t", 1, [createTestChunkEvent("t", "a")]);
      expect(await listTurns()).toEqual([turn]);
      await append("t", 2, [createTestChunkEvent("t", "b")], { turn: { ...turn, attempt: 2 } });
      expect(await listTurns()).toEqual([{ ...turn, attempt: 2 }]);
      // A rejected append does not change the turn.
      await store.commit([createTestLogAppend("t", 9, [createTestChunkEvent("t", "c")], { turn })]);
      expect(await listTurns()).toEqual([{ ...turn, attempt: 2 }]);
      await append("t", 3, [createTestChunkEvent("t", "c")], { turn: null });
      expect(await store.listUnfinished()).toHaveLength(1);
      expect(await listTurns()).toEqual([undefined]);
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
        return (await store.load(scope, "t"))?.queuedTurns;
      }

      beforeEach(() => append("t", 0, [createTestSubmittedTaskEvent("t")]));

      it("changes with and without events, and does not change the log [E11]", async () => {
        expect(await loadQueue()).toBeUndefined();
        expect(await store.listTasksWithQueuedTurns()).toEqual([]);
        await append("t", 1, [], { queueChange: { added: [queued(1)] }, messages: [waiting(1)] });
        await append("t", 1, [createTestChunkEvent("t", "a")], {
          queueChange: { added: [queued(2), queued(3)] },
          messages: [waiting(2), waiting(3)],
        });
        expect(await loadQueue()).toEqual([queued(1), queued(2), queued(3)]);
        expect(await store.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2 });
        expect(await store.readEvents(aliceTestTaskScope, "t", 0, GENEROUS_TEST_READ_LIMIT)).toHaveLength(2);
        expect(await store.listTasksWithQueuedTurns()).toEqual([{ scope: aliceTestTaskScope, taskId: "t" }]);
        await append("t", 2, [], { queueChange: { added: [queued(4)], removedThrough: 3 } });
        expect(await loadQueue()).toEqual([queued(4)]);
        await append("t", 2, [], { queueChange: { added: [], removedThrough: 4 } });
        expect(await loadQueue()).toBeUndefined();
        expect(await store.listTasksWithQueuedTurns()).toEqual([]);
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
        expect(await store.findMessage(aliceTestTaskScope, "q1")).toEqual({ taskId: "t", seq: 0 });
        const again = createTestLogAppend("t", 1, [], {
          queueChange: { added: [queued(2)] },
          messages: [waiting(1)],
        });
        expect(await store.commit([again])).toEqual(["duplicate-message"]);
        expect(await loadQueue()).toEqual([queued(1)]);
        const start = {
          queueChange: { added: [], removedThrough: 1 },
          messages: [{ messageId: "q1", seq: 2, wasQueued: true }],
        };
        // A rejected start does not change the queue.
        expect(await store.commit([createTestLogAppend("t", 7, [begin(1)], start)])).toEqual(["conflict"]);
        expect(await store.findMessage(aliceTestTaskScope, "q1")).toEqual({ taskId: "t", seq: 0 });
        expect(await loadQueue()).toEqual([queued(1)]);
        await append("t", 1, [begin(1)], start);
        expect(await store.findMessage(aliceTestTaskScope, "q1")).toEqual({ taskId: "t", seq: 2 });
        expect(await loadQueue()).toBeUndefined();
      });

      it("may gain and lose a turn in one append", async () => {
        await append("t", 1, [begin(1)], {
          queueChange: { added: [queued(1)], removedThrough: 1 },
          messages: [waiting(1), { messageId: "q1", seq: 2, wasQueued: true }],
        });
        expect(await store.findMessage(aliceTestTaskScope, "q1")).toEqual({ taskId: "t", seq: 2 });
        expect(await loadQueue()).toBeUndefined();
      });

      it("is deleted with its task", async () => {
        await append("t", 1, [], { queueChange: { added: [queued(1)] }, messages: [waiting(1)] });
        const { deletionStore } = store;
        const tasks = (await deletionStore?.findMatchingTasks({ taskId: "t" }, 10)) ?? [];
        expect(await deletionStore?.deleteTasks(tasks, { budgetMs: 1000 })).toBe(1);
        expect(await store.listTasksWithQueuedTurns()).toEqual([]);
        expect(await store.findMessage(aliceTestTaskScope, "q1")).toBeUndefined();
        await append("t", 0, [createTestSubmittedTaskEvent("t")]);
        expect(await loadQueue()).toBeUndefined();
      });

      it("is unchanged by a rejected append", async () => {
        const late = createTestLogAppend("t", 5, [], {
          queueChange: { added: [queued(1)] },
          messages: [waiting(1)],
        });
        expect(await store.commit([late])).toEqual(["conflict"]);
        expect(await loadQueue()).toBeUndefined();
        expect(await store.findMessage(aliceTestTaskScope, "q1")).toBeUndefined();
      });
    });

    it("knows whether a loaded task is unchanged", async () => {
      const isUnchanged = async (seq: number, epoch = 0, scope = aliceTestTaskScope): Promise<unknown> =>
        await store.isTaskUnchanged?.(scope, "t", { seq, epoch });
      if (!store.isTaskUnchanged) return;
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
      const tasks = (await store.deletionStore?.findMatchingTasks({ taskId: "t" }, 1)) ?? [];
      await store.deletionStore?.deleteTasks(tasks, { budgetMs: 1000 });
      expect(await isUnchanged(2)).toBe(false);
    });

    it("loads the same task with and without snapshots", async () => {
      let count = 0;
      const snapshots = fc.array(fc.boolean(), { minLength: 41, maxLength: 41 });
      await fc.assert(
        fc.asyncProperty(
          createSplitLogArbitrary("t"),
          snapshots,
          fc.nat(),
          async (pieces, due, references) => {
            const id = `task-${++count}`;
            const log: TaskEvent[] = [];
            for (const [index, events] of pieces.entries()) {
              const after = log.length;
              log.push(...events);
              const options = store.usesSnapshots && due[index] ? createTestSnapshot(log, references) : {};
              await append(id, after, events, options);
              expect(await loadTestTask(store, aliceTestTaskScope, id)).toEqual({
                task: foldTestTaskEvents(log),
                seq: log.length,
                ...idleTestTaskLease,
              });
            }
          },
        ),
        { numRuns: 30 },
      );
    });
  });
}
