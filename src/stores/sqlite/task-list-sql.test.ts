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

const STATES = [["TASK_STATE_COMPLETED"], STORED_TASK_STATES] as const;
const CONTEXTS: TaskListConditions[] = [{}, { contextId: "c" }];
const LISTS = CONTEXTS.flatMap((conditions) => STATES.map((states) => ({ states, ...conditions })));

/** Returns the parts of a query plan that read more than the covering index ranges of the states, or that sort. */
function findSlowSteps(sql: string, { states, contextId }: (typeof LISTS)[number]): string[] {
  const plan = db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => detail as string);
  const searches = plan.filter((step) => step.startsWith("SEARCH task "));
  const isOfPage = !sql.startsWith("SELECT count");
  const indexes = [
    contextId === undefined
      ? "COVERING INDEX task_by_state (scope=? AND state=?"
      : "COVERING INDEX task_by_context (scope=? AND context_id=? AND state=?",
    "COVERING INDEX task_running (scope=? AND state=?",
  ];
  return [
    ...plan.filter((step) => /TEMP B-TREE|SCAN (?!\(subquery|page$)/.test(step)),
    ...searches.filter((step) => !indexes.some((index) => step.includes(index))),
    ...searches.filter((step) => !step.includes("timestamp>?")),
    ...searches.filter((step) => isOfPage && !/\(timestamp,task_id\)<\(\?,\?\)|timestamp<\?/.test(step)),
    ...(searches.length === states.length * indexes.length ? [] : [`${searches.length} searches`]),
    ...plan.filter(
      (step) => /^SEARCH (log|snapshot)/.test(step) && !/PRIMARY KEY|\(task=\? AND seq>\?\)/.test(step),
    ),
  ];
}

describe.each(LISTS)("a task list with $states.length states, context $contextId", (list) => {
  it("reads only the index entries of its page", () => {
    expect(findSlowSteps(buildTaskPageSql(list, list.states), list)).toEqual([]);
    expect(findSlowSteps(buildTaskSizesSql(list, list.states), list)).toEqual([]);
  });

  it("counts only index entries", () => {
    expect(findSlowSteps(buildTaskCountSql(list, list.states), list)).toEqual([]);
  });
});
