import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { migrateSchema } from "./schema.ts";
import { buildTaskCountSql, buildTaskPageSql, type TaskListConditions } from "./task-list-sql.ts";

const db = new DatabaseSync(":memory:");
migrateSchema(db, ":memory:");

const FLAGS = [false, true];
const ALL_CONDITIONS: TaskListConditions[] = FLAGS.flatMap((hasContextId) =>
  FLAGS.flatMap((hasStatus) => FLAGS.map((hasStatusSince) => ({ hasContextId, hasStatus, hasStatusSince }))),
);

function explainQueryPlan(sql: string): string[] {
  const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.map(({ detail }) => detail as string);
}

/** Expects a plan that reads only covering index ranges on all conditions, and sorts nothing. */
function expectIndexRanges(
  sql: string,
  { hasContextId, hasStatus, hasStatusSince }: TaskListConditions,
): void {
  const plan = explainQueryPlan(sql);
  expect(plan.filter((step) => /TEMP B-TREE|SCAN (?!\(subquery)/.test(step))).toEqual([]);
  const searches = plan.filter((step) => step.startsWith("SEARCH"));
  expect(searches).toHaveLength(hasStatus ? 1 : 9);
  const index = hasContextId
    ? "COVERING INDEX task_by_context (scope=? AND context_id=? AND state=?"
    : "COVERING INDEX task_by_state (scope=? AND state=?";
  for (const step of searches) {
    expect(step).toContain(index);
    if (hasStatusSince) expect(step).toContain("timestamp>?");
  }
}

describe.each(ALL_CONDITIONS)("a task list with $hasContextId, $hasStatus, $hasStatusSince", (conditions) => {
  it("reads only the index entries of its page", () => {
    expectIndexRanges(buildTaskPageSql(conditions, true), conditions);
    const laterPage = buildTaskPageSql(conditions, false);
    expectIndexRanges(laterPage, conditions);
    for (const step of explainQueryPlan(laterPage).filter((one) => one.startsWith("SEARCH")))
      expect(step).toMatch(/\(timestamp,task_id\)<\(\?,\?\)|timestamp<\?/);
  });

  it("counts only index entries", () => {
    expectIndexRanges(buildTaskCountSql(conditions), conditions);
  });
});
