import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { migrateSchema } from "./migrate-schema.ts";
import { buildAllCallersSql, buildScopeSql, buildTextSql } from "./task-list-sql.ts";
import { createTaskTextIndex } from "./task-text-index.ts";
import type { TaskOverviewQuery } from "../server-store.ts";

const db = new DatabaseSync(":memory:");
migrateSchema(db, ":memory:");
createTaskTextIndex(db);

const explain = (sql: string): string[] =>
  db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => detail as string);

const STATUSES: Partial<TaskOverviewQuery>[] = [{}, { status: "TASK_STATE_COMPLETED" }];
const CONTEXTS: Partial<TaskOverviewQuery>[] = [{}, { contextId: "c" }];
const AGENTS: Partial<TaskOverviewQuery>[] = [{}, { agent: "a" }];
const QUERIES = STATUSES.flatMap((status) =>
  CONTEXTS.map((context): TaskOverviewQuery => ({ limit: 50, ...status, ...context })),
);

/**
 * Returns the steps of a plan that are no search of an index with a range of times, and wrong numbers of searches. The
 * list of all callers also reads the index of the tasks with a running turn.
 */
function findSlowSteps(
  sql: string,
  { status, contextId }: TaskOverviewQuery,
  indexes: readonly string[],
): string[] {
  const plan = explain(sql);
  const searches = plan.filter((step) => /^SEARCH task (?!USING INTEGER PRIMARY KEY)/.test(step));
  const stateCount = status === undefined ? STORED_TASK_STATES.length : 1;
  return [
    ...plan.filter((step) => /^SCAN task(?! USING COVERING INDEX task_running$)/.test(step)),
    ...searches.filter(
      (step) => !indexes.some((index) => step.includes(index)) || !step.includes("timestamp>"),
    ),
    // Of all callers, only the few tasks with a running turn, or the tasks of a context, are sorted.
    ...plan.filter((step) => contextId === undefined && step === "USE TEMP B-TREE FOR ORDER BY").slice(1),
    ...(searches.length === stateCount * indexes.length ? [] : [`${searches.length} searches`]),
  ];
}

describe("a list of the console in SQLite", () => {
  it.each(QUERIES)("of a caller, with %j, searches an index", (query) => {
    const index =
      query.contextId === undefined
        ? "COVERING INDEX task_by_state (scope=? AND state=?"
        : "COVERING INDEX task_by_context (scope=? AND context_id=? AND state=?";
    const running = "COVERING INDEX task_running (scope=? AND state=?";
    expect(findSlowSteps(buildScopeSql(query), query, [index, running])).toEqual([]);
  });

  it.each(QUERIES.flatMap((query) => AGENTS.map((agent): TaskOverviewQuery => ({ ...query, ...agent }))))(
    "of all callers, with %j, searches an index",
    (query) => {
      const index =
        query.contextId === undefined
          ? "INDEX task_stopped (state=?"
          : "COVERING INDEX task_by_context (scope=? AND context_id=? AND state=?";
      expect(findSlowSteps(buildAllCallersSql(query), query, [index])).toEqual([]);
    },
  );

  it.each(QUERIES)("with a text and %j, reads only matching tasks", (query) => {
    const plan = explain(buildTextSql({ ...query, text: "word" }));
    expect(plan.filter((step) => step.startsWith("SEARCH task "))).toEqual([
      expect.stringContaining("USING INTEGER PRIMARY KEY (rowid=?)"),
    ]);
    expect(plan).toContainEqual(expect.stringMatching(/^SCAN task_text_words VIRTUAL TABLE INDEX \d+:.*M/));
  });
});
