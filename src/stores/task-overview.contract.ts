import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogAppend } from "../engine/index.ts";
import { TASK_STATES, type TaskState } from "../protocol/index.ts";
import {
  aliceTestTaskScope,
  bobTestTaskScope,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
  formatTestTime,
} from "./task-event-logs.fixture.ts";
import { countRuns } from "../../test/support/count-runs.ts";
import type { TaskOverview, TaskOverviewQuery } from "./server-store.ts";
import type { TestStore } from "./test-store.fixture.ts";

const CARLA_OTHER_AGENT_SCOPE = { tenant: "", principal: "carla", agent: "other" };
const SCOPES = [aliceTestTaskScope, bobTestTaskScope, CARLA_OTHER_AGENT_SCOPE];

interface PlannedTask {
  readonly id: string;
  readonly scope: LogAppend["scope"];
  readonly contextId: string;
  readonly state: TaskState;
  readonly time: number;
}

/** Defines the contract tests for the overview of a store. */
export function defineTaskOverviewContract(getStore: () => TestStore): void {
  const getOverview = (): TaskOverview => {
    const { overview } = getStore();
    if (!overview) throw new Error("the store has no overview");
    return overview;
  };

  async function store(tasks: readonly PlannedTask[]): Promise<void> {
    const appends = tasks.map(({ id, scope, contextId, state, time }) => {
      const log = [createTestSubmittedTaskEvent(id, { contextId }), createTestStatusEvent(id, state, time)];
      return createTestLogAppend(id, 0, log, { contextId, scope });
    });
    const refusals = await getStore().commit(appends);
    expect(refusals.filter((refusal) => refusal !== undefined)).toEqual([]);
  }

  /** Returns the ids on all pages of a list. */
  async function listIds(
    query: Omit<TaskOverviewQuery, "limit" | "after">,
    limit: number,
  ): Promise<string[]> {
    const ids: string[] = [];
    let after: TaskOverviewQuery["after"];
    for (;;) {
      const { tasks, hasMore } = await getOverview().list({ ...query, limit, ...(after ? { after } : {}) });
      ids.push(...tasks.map(({ taskId }) => taskId));
      after = tasks.at(-1);
      if (!hasMore || !after) return ids;
    }
  }

  describe("an overview", () => {
    const planned = fc.uniqueArray(
      fc.record({
        id: fc.integer({ min: 0, max: 10_000 }).map((number) => `task-${number}`),
        scope: fc.constantFrom(...SCOPES),
        contextId: fc.constantFrom("c1", "c2"),
        state: fc.constantFrom(...TASK_STATES),
        time: fc.integer({ min: 0, max: 3 }),
      }),
      { selector: ({ id }) => id, maxLength: 12 },
    );
    const query = fc.record(
      {
        agent: fc.constantFrom("echo", "other", "none"),
        contextId: fc.constantFrom("c1", "c2", "c3"),
        status: fc.constantFrom(...TASK_STATES),
        statusSince: fc.integer({ min: 0, max: 3 }).map(formatTestTime),
        statusUntil: fc.integer({ min: 0, max: 3 }).map(formatTestTime),
      },
      { requiredKeys: [] },
    );

    it("lists the matching tasks of all callers, or of some scopes, on pages without gaps [E13]", async () => {
      await getOverview().prepareForAllCallers?.();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(
          planned,
          query,
          fc.option(fc.subarray(SCOPES), { nil: undefined }),
          fc.integer({ min: 1, max: 5 }),
          async (tasks, conditions, scopes, limit) => {
            // Each round has its own tasks, because the tests of a store share the store.
            round += 1;
            const suffix = `-${round}`;
            const ofRound = tasks.map((task) => ({
              ...task,
              id: task.id + suffix,
              contextId: task.contextId + suffix,
            }));
            await store(ofRound);
            const { contextId = "c1", ...others } = conditions;
            const roundConditions = { ...others, contextId: contextId + suffix };
            const expected = ofRound
              .filter((task) =>
                matchesConditions(task, { ...roundConditions, ...(scopes ? { scopes } : {}) }),
              )
              .toSorted((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1))
              .map(({ id }) => id);
            expect(await listIds({ ...roundConditions, ...(scopes ? { scopes } : {}) }, limit)).toEqual(
              expected,
            );
            // Without a context, the list also has the tasks of other rounds.
            const all = await listIds({ ...others, ...(scopes ? { scopes } : {}) }, 7);
            const expectedInAll = ofRound
              .filter((task) => matchesConditions(task, { ...others, ...(scopes ? { scopes } : {}) }))
              .toSorted((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1));
            expect(all.filter((id) => id.endsWith(suffix))).toEqual(expectedInAll.map(({ id }) => id));
            expect(new Set(all).size).toBe(all.length);
          },
        ),
        { numRuns: countRuns(15, 80) },
      );
    });

    it("has the scope, context, state, and last sequence number of each task", async () => {
      await getOverview().prepareForAllCallers?.();
      await store([
        { id: "t", scope: bobTestTaskScope, contextId: "c", state: "TASK_STATE_WORKING", time: 1 },
      ]);
      expect(await getOverview().list({ limit: 10 })).toEqual({
        tasks: [
          {
            scope: bobTestTaskScope,
            taskId: "t",
            contextId: "c",
            state: "TASK_STATE_WORKING",
            timestamp: formatTestTime(1),
            seq: 2,
          },
        ],
        hasMore: false,
      });
    });

    it("finds the owner of a task", async () => {
      await store([
        { id: "t", scope: bobTestTaskScope, contextId: "c", state: "TASK_STATE_WORKING", time: 1 },
      ]);
      expect(await getOverview().findScope("echo", "t")).toEqual(bobTestTaskScope);
      expect(await getOverview().findScope("other", "t")).toBeUndefined();
      expect(await getOverview().findScope("echo", "u")).toBeUndefined();
    });
  });
}

function matchesConditions(
  { scope, contextId, state, time }: PlannedTask,
  {
    scopes,
    agent,
    contextId: context,
    status,
    statusSince = "",
    statusUntil = "~",
  }: Partial<TaskOverviewQuery>,
): boolean {
  const timestamp = formatTestTime(time);
  const isInScopes = scopes
    ? scopes.some((one) => JSON.stringify(one) === JSON.stringify(scope))
    : agent === undefined || scope.agent === agent;
  return (
    isInScopes &&
    (context === undefined || contextId === context) &&
    (status === undefined || state === status) &&
    timestamp >= statusSince &&
    timestamp <= statusUntil
  );
}
