import { afterEach, describe, expect, it, vi } from "vitest";
import { MemoryStore } from "../index.ts";
import {
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
  createTestUserMessage,
  createTestChunkEvent,
  aliceTestTaskScope,
} from "../task-event-logs.fixture.ts";
import { FakeClock } from "../../engine/engine.fixture.ts";
import type { SweepReport } from "../../engine/index.ts";
import type { TaskState } from "../../protocol/index.ts";
import type { RetentionOptions } from "./retention-policy.ts";
import { RetentionService } from "./retention-service.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

interface SweeperFixture {
  readonly store: MemoryStore;
  readonly clock: FakeClock;
  readonly sweeper: RetentionService;
  readonly reports: SweepReport[];
  readonly errors: unknown[];
  readonly tasksInUse: Set<string>;
}

const openSweepers: RetentionService[] = [];

function createSweeperFixture(
  retention: RetentionOptions | false = {},
  store: MemoryStore = new MemoryStore(),
): SweeperFixture {
  const clock = new FakeClock();
  const reports: SweepReport[] = [];
  const errors: unknown[] = [];
  const tasksInUse = new Set<string>();
  const sweeper = new RetentionService({
    deletionStore: store.deletionStore,
    retention,
    clock,
    observer: { onSweep: (report) => reports.push(report), onError: ({ error }) => errors.push(error) },
    isTaskInUse: (_, taskId) => tasksInUse.has(taskId),
    endTask: async () => {},
    onTaskErased: () => {},
  });
  openSweepers.push(sweeper);
  return { store, clock, sweeper, reports, errors, tasksInUse };
}

/** Stores a task whose status is `state` since the current time of the clock. */
async function storeTask(
  { store, clock }: SweeperFixture,
  id: string,
  state: TaskState = "TASK_STATE_COMPLETED",
  agent: string = aliceTestTaskScope.agent,
): Promise<void> {
  // The test times of the fixture start at the time at which the fake clock starts.
  const time = clock.now() - Date.UTC(2026, 0, 1);
  const scope = { ...aliceTestTaskScope, agent };
  const messages = [{ messageId: `m-${id}`, seq: 1 }];
  const first = createTestSubmittedTaskEvent(id, { message: createTestUserMessage(`m-${id}`), time });
  await store.commit([
    createTestLogAppend(id, 0, [first, createTestChunkEvent(id, id)], { messages, scope }),
  ]);
  await store.commit([createTestLogAppend(id, 2, [createTestStatusEvent(id, state, time)], { scope })]);
}

async function hasEvents(
  { store }: SweeperFixture,
  id: string,
  agent = aliceTestTaskScope.agent,
): Promise<boolean> {
  const limit = { events: 10, maxBytes: 1e6 };
  return (await store.readEvents({ ...aliceTestTaskScope, agent }, id, 0, limit)).length > 0;
}

async function listTaskIds({ store }: SweeperFixture, agent = aliceTestTaskScope.agent): Promise<string[]> {
  const { tasks } = await store.list({ ...aliceTestTaskScope, agent }, { limit: 1000 });
  return tasks.map(({ id }) => id).toSorted();
}

describe("RetentionService", () => {
  afterEach(async () => {
    for (const sweeper of openSweepers.splice(0)) await sweeper.close();
  });

  it("deletes events after 7 days, ended tasks after 30 days, and waiting tasks after 90 days by default [E14]", async () => {
    const fixture = createSweeperFixture();
    const { clock, sweeper } = fixture;
    await storeTask(fixture, "done");
    await storeTask(fixture, "asks", "TASK_STATE_INPUT_REQUIRED");
    await storeTask(fixture, "works", "TASK_STATE_WORKING");
    const nothing = {
      deletedTasks: 0,
      trimmedTasks: 0,
      evictedTasks: 0,
      evictedWaitingTasks: 0,
      isOverMaxBytes: false,
    };
    clock.advance(7 * DAY_MS);
    expect(await sweeper.sweep()).toEqual(nothing);
    clock.advance(1);
    expect(await sweeper.sweep()).toEqual({ ...nothing, trimmedTasks: 1 });
    expect([await hasEvents(fixture, "done"), await hasEvents(fixture, "asks")]).toEqual([false, true]);
    expect(await fixture.store.load(aliceTestTaskScope, "done")).toMatchObject({ seq: 3 });
    clock.advance(23 * DAY_MS);
    expect(await sweeper.sweep()).toEqual({ ...nothing, deletedTasks: 1 });
    expect(await listTaskIds(fixture)).toEqual(["asks", "works"]);
    clock.advance(60 * DAY_MS);
    expect(await sweeper.sweep()).toEqual({ ...nothing, deletedTasks: 1 });
    clock.advance(1000 * DAY_MS);
    expect(await sweeper.sweep()).toEqual(nothing);
    expect(await listTaskIds(fixture)).toEqual(["works"]);
    expect(fixture.reports).toHaveLength(3);
  });

  it("reports the tasks that the memory store evicted since the last sweep [E14]", async () => {
    const fixture = createSweeperFixture({}, new MemoryStore({ maxBytes: 1 }));
    await storeTask(fixture, "asks", "TASK_STATE_INPUT_REQUIRED");
    for (const id of ["a", "b", "c"]) await storeTask(fixture, id);
    const { evictedTasks, evictedWaitingTasks } = await fixture.sweeper.sweep();
    expect([evictedTasks, evictedWaitingTasks]).toEqual([3, 1]);
    expect(await fixture.sweeper.sweep()).toMatchObject({ evictedTasks: 0 });
    expect(fixture.reports).toHaveLength(1);
  });

  it("applies the periods of single agents, and keeps all tasks of an agent with false", async () => {
    const fixture = createSweeperFixture({
      keepTasksMs: 2 * DAY_MS,
      keepEventsMs: DAY_MS,
      agents: { slow: { keepTasksMs: 5 * DAY_MS }, archive: false },
    });
    for (const agent of ["echo", "slow", "archive"])
      await storeTask(fixture, "t", "TASK_STATE_FAILED", agent);
    fixture.clock.advance(3 * DAY_MS);
    await fixture.sweeper.sweep();
    expect(await listTaskIds(fixture, "echo")).toEqual([]);
    expect(await listTaskIds(fixture, "slow")).toEqual(["t"]);
    expect([await hasEvents(fixture, "t", "slow"), await hasEvents(fixture, "t", "archive")]).toEqual([
      false,
      true,
    ]);
    fixture.clock.advance(100 * DAY_MS);
    await fixture.sweeper.sweep();
    expect(await listTaskIds(fixture, "slow")).toEqual([]);
    expect(await hasEvents(fixture, "t", "archive")).toBe(true);
  });

  it("deletes the tasks that ended first while the store is larger than maxBytes, except those of kept agents", async () => {
    const fixture = createSweeperFixture({ maxBytes: 70_000, agents: { archive: false } });
    await storeTask(fixture, "kept", "TASK_STATE_COMPLETED", "archive");
    for (let n = 0; n < 100; n++) {
      fixture.clock.advance(1);
      await storeTask(fixture, `t${String(n).padStart(3, "0")}`);
    }
    const { deletedTasks, isOverMaxBytes } = await fixture.sweeper.sweep();
    expect(isOverMaxBytes).toBe(false);
    const left = await listTaskIds(fixture);
    expect(left.length).toBe(100 - deletedTasks);
    expect(left.length).toBeGreaterThan(0);
    expect(left[0]).toBe(`t${String(deletedTasks).padStart(3, "0")}`);
    expect((await fixture.store.deletionStore.measureSize()).usedBytes).toBeLessThanOrEqual(70_000);
    expect(await listTaskIds(fixture, "archive")).toEqual(["kept"]);
  });

  it("deletes only as many tasks as necessary if the store is slightly larger than maxBytes", async () => {
    const probe = createSweeperFixture();
    for (let n = 0; n < 20; n++) await storeTask(probe, `t${n}`);
    const { usedBytes } = await probe.store.deletionStore.measureSize();
    const fixture = createSweeperFixture({ maxBytes: usedBytes - 1 });
    for (let n = 0; n < 20; n++) await storeTask(fixture, `t${n}`);
    expect(await fixture.sweeper.sweep()).toMatchObject({ deletedTasks: 1, isOverMaxBytes: false });
  });

  it("enforces maxBytes and all periods after the wall clock was set back", async () => {
    const fixture = createSweeperFixture({ maxBytes: 10_000, keepTasksMs: 1000 });
    fixture.clock.wallClockOffsetMs = DAY_MS;
    for (let n = 0; n < 20; n++) await storeTask(fixture, `late${n}`);
    fixture.clock.wallClockOffsetMs = 0;
    await storeTask(fixture, "early");
    fixture.clock.advance(2000);
    expect(await fixture.sweeper.sweep()).toMatchObject({ isOverMaxBytes: false });
    const left = await listTaskIds(fixture);
    expect(left).not.toContain("early");
    expect(left.length).toBeGreaterThan(0);
    expect((await fixture.store.deletionStore.measureSize()).usedBytes).toBeLessThanOrEqual(10_000);
  });

  it("reports a store that is too large although no ended tasks are left", async () => {
    const fixture = createSweeperFixture({ maxBytes: 10 });
    await storeTask(fixture, "t", "TASK_STATE_INPUT_REQUIRED");
    expect(await fixture.sweeper.sweep()).toMatchObject({ isOverMaxBytes: true, deletedTasks: 0 });
    expect(fixture.reports).toHaveLength(1);
  });

  it("skips tasks in use, and deletes them in the next full sweep, an hour later", async () => {
    const fixture = createSweeperFixture({ keepTasksMs: DAY_MS });
    for (const id of ["a", "b", "c"]) await storeTask(fixture, id);
    fixture.tasksInUse.add("b");
    fixture.clock.advance(2 * DAY_MS);
    expect(await fixture.sweeper.sweep()).toMatchObject({ deletedTasks: 2 });
    expect(await listTaskIds(fixture)).toEqual(["b"]);
    fixture.tasksInUse.clear();
    fixture.clock.advance(HOUR_MS - 1);
    expect(await fixture.sweeper.sweep()).toMatchObject({ deletedTasks: 0 });
    fixture.clock.advance(1);
    expect(await fixture.sweeper.sweep()).toMatchObject({ deletedTasks: 1 });
  });

  it("sweeps at each interval until it is closed", async () => {
    const fixture = createSweeperFixture({ keepTasksMs: 1000, sweepIntervalMs: 60_000 });
    const { clock, sweeper } = fixture;
    await sweeper.start();
    for (const id of ["first", "second"]) {
      await storeTask(fixture, id);
      clock.advance(60_000);
      await expect.poll(() => listTaskIds(fixture)).toEqual([]);
      await expect.poll(() => clock.pendingTimerCount).toBe(1);
    }
    await sweeper.close();
    expect(clock.pendingTimerCount).toBe(0);
    await expect(sweeper.sweep()).rejects.toThrow("The server closed");
  });

  it("continues within a second after a step during which the machine was suspended", async () => {
    const fixture = createSweeperFixture({ keepTasksMs: DAY_MS });
    const { clock, store, sweeper } = fixture;
    await storeTask(fixture, "t");
    clock.advance(2 * DAY_MS);
    const deleteRemnants = vi
      .spyOn(store.deletionStore, "deleteRemnants")
      .mockImplementationOnce(async () => {
        clock.advance(DAY_MS);
        return false;
      });
    let isComplete = false;
    const sweep = sweeper.sweep().then(() => (isComplete = true));
    await expect.poll(() => deleteRemnants.mock.calls.length).toBe(1);
    await expect.poll(() => clock.pendingTimerCount).toBe(1);
    expect(isComplete).toBe(false);
    clock.advance(1000);
    await sweep;
  });

  it("sweeps again after a failed sweep, and reports the error", async () => {
    const fixture = createSweeperFixture({ keepTasksMs: 1000, sweepIntervalMs: 60_000 });
    const { deletionStore } = fixture.store;
    const listStoppedTasks = vi
      .spyOn(deletionStore, "listStoppedTasks")
      .mockRejectedValue(new Error("The disk is gone"));
    await storeTask(fixture, "t");
    await fixture.sweeper.start();
    fixture.clock.advance(60_000);
    await expect.poll(() => fixture.errors).toEqual([new Error("The disk is gone")]);
    listStoppedTasks.mockRestore();
    fixture.clock.advance(60_000);
    await expect.poll(() => listTaskIds(fixture)).toEqual([]);
  });

  it("deletes nothing on its own if retention is false", async () => {
    const fixture = createSweeperFixture(false);
    await storeTask(fixture, "t");
    await fixture.sweeper.start();
    fixture.clock.advance(1000 * DAY_MS);
    expect(await fixture.sweeper.sweep()).toMatchObject({ deletedTasks: 0, trimmedTasks: 0 });
    expect(fixture.clock.pendingTimerCount).toBe(0);
    expect(await fixture.sweeper.erase({ taskId: "t" })).toBe(1);
  });
});
