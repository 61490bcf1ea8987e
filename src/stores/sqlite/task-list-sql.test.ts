import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { migrateSchema } from "./migrate-schema.ts";
import {
  buildTaskCountSql,
  buildTaskPageSql,
  buildTaskSizesSql,
  type TaskListConditions,
} from "./task-list-sql.ts";

const db = new DatabaseSync(":memory:");
migrateSchema(db, ":memory:");

const FLAGS = [false, true];
const STATES = [["TASK_STATE_COMPLETED"], STORED_TASK_STATES] as const;
const ALL_CONDITIONS: TaskListConditions[] = FLAGS.flatMap((hasContextId) =>
  STATES.flatMap((states) => FLAGS.map((hasStatusSince) => ({ states, hasContextId, hasStatusSince }))),
);

function explainQueryPlan(sql: string): string[] {
  const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.map(({ detail }) => detail as string);
}

/** Returns the parts of a query plan that read more than the covering index ranges of the states, or that sort. */
function findSlowSteps(sql: string, { states, hasContextId, hasStatusSince }: TaskListConditions): string[] {
  const plan = explainQueryPlan(sql);
  const searches = plan.filter((step) => step.startsWith("SEARCH task "));
  const indexes = [
    hasContextId
      ? "COVERING INDEX task_by_context (scope=? AND context_id=? AND state=?"
      : "COVERING INDEX task_by_state (scope=? AND state=?",
    "COVERING INDEX task_running (scope=? AND state=?",
  ];
  return [
    ...plan.filter((step) => /TEMP B-TREE|SCAN (?!\(subquery|page$)/.test(step)),
    ...searches.filter((step) => !indexes.some((index) => step.includes(index))),
    ...searches.filter((step) => hasStatusSince && !step.includes("timestamp>?")),
    ...(searches.length === states.length * indexes.length ? [] : [`${searches.length} searches`]),
    ...plan.filter(
      (step) => /^SEARCH (log|snapshot)/.test(step) && !/PRIMARY KEY|\(task=\? AND seq>\?\)/.test(step),
    ),
  ];
}

describe.each(ALL_CONDITIONS)(
  "a task list with $states.length states, $hasContextId, $hasStatusSince",
  (conditions) => {
    it("reads only the index entries of its first page", () => {
      expect(findSlowSteps(buildTaskPageSql(conditions, true), conditions)).toEqual([]);
      expect(findSlowSteps(buildTaskSizesSql(conditions, true), conditions)).toEqual([]);
    });

    it("reads only the index entries of a later page", () => {
      const sql = buildTaskPageSql(conditions, false);
      expect(findSlowSteps(sql, conditions)).toEqual([]);
      for (const step of explainQueryPlan(sql).filter((one) => one.startsWith("SEARCH task ")))
        expect(step).toMatch(/\(timestamp,task_id\)<\(\?,\?\)|timestamp<\?/);
    });

    it("counts only index entries", () => {
      expect(findSlowSteps(buildTaskCountSql(conditions), conditions)).toEqual([]);
    });
  },
);
