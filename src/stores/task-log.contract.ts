import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogAppend } from "../engine/index.ts";
import { copyTask, text, type TaskEvent } from "../protocol/index.ts";
import {
  aliceTestTaskScope,
  idleTestTaskLease,
  loadTestTask,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  createTestChunkEvent,
  splitTestListBySizes,
  createSplitLogArbitrary,
  foldTestTaskEvents,
  formatTestTime,
  createTestStatusEvent,
} from "./task-event-logs.fixture.ts";
import { countRuns } from "../../test/support/count-runs.ts";
import type { TestStore } from "./test-store.fixture.ts";

const GENEROUS_TEST_READ_LIMIT = { events: 1000, maxBytes: 1_000_000 };

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

/** Defines the contract tests for the logs of tasks. */
export function defineTaskLogContract(
  getStore: () => TestStore,
  append: (...args: Parameters<typeof createTestLogAppend>) => Promise<void>,
): void {
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
      const events = await getStore().readEvents(aliceTestTaskScope, "t", 0, GENEROUS_TEST_READ_LIMIT);
      expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      expect(events.map(({ event }) => event)).toEqual(log);
      const times = [0, 0, 2, 2].map((after) => Date.parse(formatTestTime(after)));
      expect(events.map(({ committedAt }) => committedAt)).toEqual(times);
      expect(events.map(({ jsonText: json }) => json)).toEqual(log.map((event) => JSON.stringify(event)));
      expect(await loadTestTask(getStore(), aliceTestTaskScope, "t")).toEqual({
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
      expect(await getStore().commit(batch)).toEqual([undefined, undefined, undefined]);
      expect(await getStore().load(aliceTestTaskScope, "a")).toMatchObject({
        seq: 3,
        task: { artifacts: [{ parts: [{ text: "x" }] }] },
      });
      expect(await getStore().load(aliceTestTaskScope, "b")).toMatchObject({
        seq: 2,
        task: { status: { state: "TASK_STATE_COMPLETED" } },
      });
    });

    it("of an unknown task has no task and no events", async () => {
      expect(await getStore().load(aliceTestTaskScope, "t")).toBeUndefined();
      expect(await getStore().readEvents(aliceTestTaskScope, "t", 0, GENEROUS_TEST_READ_LIMIT)).toEqual([]);
    });

    it("loads a copy of the task", async () => {
      const log = [createTestSubmittedTaskEvent("t"), createTestChunkEvent("t", "a")];
      await append("t", 0, log);
      const loaded = await getStore().load(aliceTestTaskScope, "t");
      if (loaded) {
        loaded.task.artifacts?.[0]?.parts.push(text("mine"));
        loaded.task.status = { state: "TASK_STATE_FAILED" };
      }
      expect(await loadTestTask(getStore(), aliceTestTaskScope, "t")).toEqual({
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
            expect(await getStore().commit(appends)).toEqual(appends.map(() => undefined));
            expect(await loadTestTask(getStore(), aliceTestTaskScope, id)).toEqual({
              task: foldTestTaskEvents(log),
              seq: log.length,
              ...idleTestTaskLease,
            });
          }
          for (let after = 0; after <= log.length; after++) {
            const tail = await getStore().readEvents(aliceTestTaskScope, id, after, GENEROUS_TEST_READ_LIMIT);
            expect(tail.map(({ event }) => event)).toEqual(log.slice(after));
          }
        }),
        { numRuns: countRuns(20, 100) },
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
            const piece = await getStore().readEvents(aliceTestTaskScope, "t", start + read.length, limit);
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
        return (await getStore().readEvents(aliceTestTaskScope, "t", 0, limit)).length;
      }
      expect(await lengthOf({ events: 3, maxBytes: 1_000_000 })).toBe(3);
      expect(await lengthOf({ events: 10, maxBytes: 0 })).toBe(1);
      expect(await lengthOf({ events: 10, maxBytes: first })).toBe(2);
      expect(await lengthOf({ events: 10, maxBytes: first + second - 1 })).toBe(2);
      expect(await lengthOf({ events: 10, maxBytes: first + second })).toBe(3);
      expect(await getStore().readEvents(aliceTestTaskScope, "t", 4, GENEROUS_TEST_READ_LIMIT)).toEqual([]);
      expect(await getStore().readEvents(aliceTestTaskScope, "t", 9, GENEROUS_TEST_READ_LIMIT)).toEqual([]);
    });
  });

  it("loads the same task with and without snapshots", async () => {
    let count = 0;
    const snapshots = fc.array(fc.boolean(), { minLength: 41, maxLength: 41 });
    await fc.assert(
      fc.asyncProperty(createSplitLogArbitrary("t"), snapshots, fc.nat(), async (pieces, due, references) => {
        const id = `task-${++count}`;
        const log: TaskEvent[] = [];
        for (const [index, events] of pieces.entries()) {
          const after = log.length;
          log.push(...events);
          const options = getStore().usesSnapshots && due[index] ? createTestSnapshot(log, references) : {};
          await append(id, after, events, options);
          expect(await loadTestTask(getStore(), aliceTestTaskScope, id)).toEqual({
            task: foldTestTaskEvents(log),
            seq: log.length,
            ...idleTestTaskLease,
          });
        }
      }),
      { numRuns: countRuns(10, 60) },
    );
  });
}
