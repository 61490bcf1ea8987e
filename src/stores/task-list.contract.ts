import * as fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { LogAppend, TaskListQuery } from "../engine/index.ts";
import { copyTask, isTerminal, TASK_STATES, text, type Task, type TaskEvent } from "../protocol/index.ts";
import {
  aliceTestTaskScope,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
  foldTestTaskEvents,
  formatTestTime,
} from "./task-event-logs.fixture.ts";
import { countRuns } from "../../test/support/count-runs.ts";
import type { TestStore } from "./test-store.fixture.ts";

/** Returns the ids of alice's matching tasks. */
async function listAliceTaskIdsForTest(
  store: TestStore,
  query: Partial<TaskListQuery> = {},
): Promise<string[]> {
  return (await store.list(aliceTestTaskScope, { limit: 100, ...query })).tasks.map(({ id }) => id);
}

/**
 * Returns the ids on every page of alice's list. Each page starts after the last task of the previous one.
 */
async function listAliceTaskIdPagesForTest(
  store: TestStore,
  query: Partial<TaskListQuery>,
  between: (page: number) => Promise<void> = async () => {},
): Promise<string[][]> {
  const pages: string[][] = [];
  let after: TaskListQuery["after"];
  for (;;) {
    const page = await store.list(aliceTestTaskScope, { limit: 3, ...query, ...(after && { after }) });
    pages.push(page.tasks.map(({ id }) => id));
    const last = page.tasks.at(-1);
    if (!page.hasMore || !last) return pages;
    after = { timestamp: last.status.timestamp as string, taskId: last.id };
    await between(pages.length);
  }
}

/** Defines the contract tests for the task lists of a store. `append` commits one append to alice's log. */
export function defineTaskListContract(
  getStore: () => TestStore,
  append: (...args: Parameters<typeof createTestLogAppend>) => Promise<void>,
): void {
  describe("a list", () => {
    /**
     * Creates ten tasks, two per millisecond, in the contexts `even` and `odd`. The tasks of `even` are
     * completed.
     */
    beforeEach(async () => {
      for (let n = 0; n < 10; n++) {
        const contextId = n % 2 ? "odd" : "even";
        const state = n % 2 ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED";
        const id = `t${n}`;
        const log = [
          createTestSubmittedTaskEvent(id, { contextId }),
          createTestStatusEvent(id, state, Math.floor(n / 2)),
        ];
        await append(id, 0, log, { contextId });
      }
      await append("b", 0, [createTestSubmittedTaskEvent("b", { contextId: "even" })], {
        scope: bobTestTaskScope,
      });
    });

    it("is ordered by newest status, then by highest id", async () => {
      expect(await listAliceTaskIdsForTest(getStore())).toEqual([
        "t9",
        "t8",
        "t7",
        "t6",
        "t5",
        "t4",
        "t3",
        "t2",
        "t1",
        "t0",
      ]);
    });

    it("contains complete tasks", async () => {
      const { tasks } = await getStore().list(aliceTestTaskScope, { limit: 1, includeArtifacts: true });
      expect(tasks).toEqual([(await getStore().load(aliceTestTaskScope, "t9"))?.task]);
    });

    it("is filtered by context, state, and time, alone and combined", async () => {
      expect(await listAliceTaskIdsForTest(getStore(), { contextId: "even" })).toEqual([
        "t8",
        "t6",
        "t4",
        "t2",
        "t0",
      ]);
      expect(await listAliceTaskIdsForTest(getStore(), { status: "TASK_STATE_WORKING" })).toEqual([
        "t9",
        "t7",
        "t5",
        "t3",
        "t1",
      ]);
      expect(await listAliceTaskIdsForTest(getStore(), { statusSince: formatTestTime(3) })).toEqual([
        "t9",
        "t8",
        "t7",
        "t6",
      ]);
      expect(
        await listAliceTaskIdsForTest(getStore(), { contextId: "odd", status: "TASK_STATE_COMPLETED" }),
      ).toEqual([]);
      expect(
        await listAliceTaskIdsForTest(getStore(), {
          contextId: "even",
          status: "TASK_STATE_COMPLETED",
          statusSince: formatTestTime(2),
        }),
      ).toEqual(["t8", "t6", "t4"]);
      expect(await listAliceTaskIdsForTest(getStore(), { contextId: "nowhere" })).toEqual([]);
    });

    it("is split into pages that contain every task once", async () => {
      expect(await listAliceTaskIdPagesForTest(getStore(), {})).toEqual([
        ["t9", "t8", "t7"],
        ["t6", "t5", "t4"],
        ["t3", "t2", "t1"],
        ["t0"],
      ]);
      expect(await listAliceTaskIdPagesForTest(getStore(), { limit: 5 })).toEqual([
        ["t9", "t8", "t7", "t6", "t5"],
        ["t4", "t3", "t2", "t1", "t0"],
      ]);
      expect(await listAliceTaskIdPagesForTest(getStore(), { contextId: "odd", limit: 2 })).toEqual([
        ["t9", "t7"],
        ["t5", "t3"],
        ["t1"],
      ]);
    });

    it("counts all matching tasks on every page", async () => {
      const after = { timestamp: formatTestTime(1), taskId: "t2" };
      expect(await getStore().list(aliceTestTaskScope, { limit: 1, after })).toMatchObject({
        total: 10,
        hasMore: true,
      });
      expect(await getStore().list(aliceTestTaskScope, { limit: 2, after })).toMatchObject({
        total: 10,
        hasMore: false,
      });
      expect(await getStore().list(aliceTestTaskScope, { limit: 1, contextId: "even" })).toMatchObject({
        total: 5,
      });
      expect(
        await getStore().list(aliceTestTaskScope, {
          limit: 1,
          status: "TASK_STATE_WORKING",
          statusSince: formatTestTime(1),
        }),
      ).toMatchObject({ total: 4 });
    });

    it("includes every unchanged task while other tasks move to the front", async () => {
      const pages = await listAliceTaskIdPagesForTest(getStore(), {}, async (page) => {
        if (page === 1) await append("t5", 2, [createTestStatusEvent("t5", "TASK_STATE_WORKING", 10)]);
        if (page === 2) await append("t10", 0, [createTestSubmittedTaskEvent("t10", { time: 11 })]);
      });
      expect(pages).toEqual([
        ["t9", "t8", "t7"],
        ["t6", "t4", "t3"],
        ["t2", "t1", "t0"],
      ]);
      expect((await listAliceTaskIdsForTest(getStore())).slice(0, 3)).toEqual(["t10", "t5", "t9"]);
    });

    it("omits artifacts unless the query includes them, from events and snapshots", async () => {
      const content = "x".repeat(10_000);
      const log = [
        createTestSubmittedTaskEvent("a", { time: 20 }),
        createTestChunkEvent("a", content),
        createTestStatusEvent("a", "TASK_STATE_WORKING", 20),
        createTestChunkEvent("a", content),
      ];
      await append("a", 0, log);
      const page = await getStore().list(aliceTestTaskScope, { limit: 1 });
      expect(page.tasks).toEqual([omitTestArtifacts(foldTestTaskEvents(log))]);
      const events = [createTestStatusEvent("a", "TASK_STATE_COMPLETED", 21)];
      log.push(...events);
      await append(
        "a",
        4,
        events,
        getStore().usesSnapshots ? { snapshot: copyTask(foldTestTaskEvents(log)) } : {},
      );
      const later = await getStore().list(aliceTestTaskScope, { limit: 1 });
      expect(later.tasks).toEqual([omitTestArtifacts(foldTestTaskEvents(log))]);
      const complete = await getStore().list(aliceTestTaskScope, { limit: 1, includeArtifacts: true });
      expect(complete.tasks).toEqual([foldTestTaskEvents(log)]);
    });

    it("ends a page before the task that exceeds the byte limit, and shows a larger task alone", async () => {
      const sizes = [100, 5000, 100, 100, 20_000, 100];
      for (const [at, size] of sizes.entries()) {
        const log = [
          createTestSubmittedTaskEvent(`s${at}`, { contextId: "sized", time: 30 - at }),
          createTestChunkEvent(`s${at}`, "x".repeat(size)),
        ];
        await append(`s${at}`, 0, log, { contextId: "sized" });
      }
      const query = { contextId: "sized", limit: 5, maxBytes: 7000 };
      expect(await listAliceTaskIdPagesForTest(getStore(), { ...query, includeArtifacts: true })).toEqual([
        ["s0", "s1", "s2", "s3"],
        ["s4"],
        ["s5"],
      ]);
      expect(await listAliceTaskIdPagesForTest(getStore(), query)).toEqual([
        ["s0", "s1", "s2", "s3", "s4"],
        ["s5"],
      ]);
    });

    it("forgets deleted tasks, and counts the others", async () => {
      const { deletionStore } = getStore();
      const found = (await deletionStore.findMatchingTasks({ contextId: "even" }, 3)) ?? [];
      await deletionStore.deleteTasks(found, { budgetMs: 1000 });
      const deleted = found.map(({ taskId }) => taskId);
      const expected = ["t8", "t6", "t4", "t2", "t0"].filter((id) => !deleted.includes(id));
      expect(await listAliceTaskIdsForTest(getStore(), { contextId: "even" })).toEqual(expected);
      const completed = { limit: 1, status: "TASK_STATE_COMPLETED" } as const;
      expect((await getStore().list(aliceTestTaskScope, completed)).total).toBe(expected.length);
      expect((await getStore().list(aliceTestTaskScope, { limit: 1 })).total).toBe(expected.length + 5);
    });

    it("equals the filtered and sorted tasks after any appends, split by number and bytes", async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(appendArbitrary, { maxLength: 40 }),
          queryArbitrary,
          async (steps, query) => {
            const scope = { ...aliceTestTaskScope, principal: `alice-${++run}` };
            const logs = new Map<string, { contextId: string; events: TaskEvent[] }>();
            const list = async (): Promise<void> => {
              const tasks = [...logs.values()].map(({ events }) => foldTestTaskEvents(events));
              await expectTestTaskList(getStore(), scope, tasks, logs, query);
            };
            for (const [at, { id, contextId, state, time, artifactSize }] of steps.entries()) {
              const log = logs.get(id) ?? { contextId, events: [] };
              if (log.events.length > 0 && isTerminal(foldTestTaskEvents(log.events).status.state)) continue;
              const events = createListedTestEvents(id, log, state, time, artifactSize);
              const options: Partial<LogAppend> = { scope, contextId: log.contextId };
              const one = createTestLogAppend(id, log.events.length, events, options);
              // A rejected append must not change the list.
              const refused = createTestLogAppend(id, log.events.length + 9, events, options);
              expect(await getStore().commit([refused, one])).toEqual(["conflict", undefined]);
              log.events.push(...events);
              logs.set(id, log);
              if (at === Math.floor(steps.length / 2)) await list();
            }
            await list();
          },
        ),
        { numRuns: countRuns(25, 200) },
      );
    });
  });
}

/** One append of the property test. */
const appendArbitrary = fc.record({
  id: fc.integer({ min: 0, max: 14 }).map((n) => `t${n}`),
  contextId: fc.constantFrom("one", "two"),
  state: fc.constantFrom(...TASK_STATES.filter((state) => state !== "TASK_STATE_SUBMITTED")),
  time: fc.integer({ min: 0, max: 5 }),
  artifactSize: fc.constantFrom(0, 10, 500, 9000),
});

const queryArbitrary: fc.Arbitrary<TaskListQuery> = fc.record(
  {
    contextId: fc.constantFrom("one", "two", "none"),
    status: fc.constantFrom("TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "TASK_STATE_REJECTED"),
    statusSince: fc.integer({ min: 0, max: 6 }).map(formatTestTime),
    maxBytes: fc.constantFrom(0, 1000, 10_000, 20_000),
    includeArtifacts: fc.boolean(),
    limit: fc.integer({ min: 1, max: 6 }),
  },
  { requiredKeys: ["limit"] },
);

type ListedTestLogs = ReadonlyMap<string, { readonly events: readonly TaskEvent[] }>;

/** Reads all pages of a list, and compares them with the tasks and the limits of a page. */
async function expectTestTaskList(
  store: TestStore,
  scope: LogAppend["scope"],
  tasks: readonly Task[],
  logs: ListedTestLogs,
  query: TaskListQuery,
): Promise<void> {
  const { maxBytes = Infinity, includeArtifacts = false, limit } = query;
  const expected = selectTestTasks(tasks, query).map((task) =>
    includeArtifacts ? task : omitTestArtifacts(task),
  );
  const listed: Task[] = [];
  for (;;) {
    const last = listed.at(-1);
    const after = last && { timestamp: last.status.timestamp as string, taskId: last.id };
    const page = await store.list(scope, { ...query, ...(after && { after }) });
    listed.push(...page.tasks);
    expect(page.total).toBe(expected.length);
    expect(page.hasMore).toBe(listed.length < expected.length);
    const next = expected[listed.length];
    if (page.tasks.length > 1) expect(measureTestJson(page.tasks)).toBeLessThanOrEqual(maxBytes);
    if (!page.hasMore || !next) break;
    expect(page.tasks.length).toBeGreaterThan(0);
    expect(page.tasks.length).toBeLessThanOrEqual(limit);
    // A store may count the events instead of the task, but a page does not end earlier.
    const logSize = [...page.tasks, next].reduce(
      (size, { id }) => size + measureTestJson(logs.get(id)?.events ?? []) + 100,
      0,
    );
    if (page.tasks.length < limit) expect(logSize).toBeGreaterThan(maxBytes);
  }
  expect(listed).toEqual(expected);
}

function selectTestTasks(tasks: readonly Task[], { contextId, status, statusSince }: TaskListQuery): Task[] {
  const key = ({ status: { timestamp }, id }: Task): string => `${timestamp} ${id}`;
  return tasks
    .filter((task) => contextId === undefined || task.contextId === contextId)
    .filter((task) => status === undefined || task.status.state === status)
    .filter((task) => statusSince === undefined || (task.status.timestamp ?? "") >= statusSince)
    .toSorted((a, b) => (key(a) < key(b) ? 1 : -1));
}

/** Creates events that move a new or an existing task to `state`. */
function createListedTestEvents(
  id: string,
  { contextId, events }: { contextId: string; events: readonly TaskEvent[] },
  state: Task["status"]["state"],
  time: number,
  artifactSize: number,
): TaskEvent[] {
  const artifact = { artifactId: "a", parts: [text("x".repeat(artifactSize))] };
  return [
    ...(events.length === 0 ? [createTestSubmittedTaskEvent(id, { contextId, time })] : []),
    { artifactUpdate: { taskId: id, contextId, artifact } },
    createTestStatusEvent(id, state, time),
  ];
}

function omitTestArtifacts(task: Task): Task {
  const { artifacts: _, ...rest } = task;
  return rest;
}

function measureTestJson(values: readonly unknown[]): number {
  return values.reduce((size: number, value) => size + JSON.stringify(value).length, 0);
}
