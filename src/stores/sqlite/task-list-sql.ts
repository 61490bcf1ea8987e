import { STORED_TASK_STATES } from "../stored-task-states.ts";

/** The conditions of a task list that need their own SQL. The values of all conditions are bound parameters. */
export interface TaskListConditions {
  readonly hasContextId: boolean;
  readonly hasStatus: boolean;
  readonly hasStatusSince: boolean;
}

/**
 * Builds the query for the keys of a page of tasks, in list order. Without `status`, the query merges one index
 * range per state. Each range is in list order, so SQLite reads only the entries of the page. Parameters:
 * `$scope`, `$limit`, and `$contextId`, `$status`, `$statusSince`, `$afterTimestamp`, and `$afterTaskId` for the
 * conditions.
 */
export function buildTaskPageSql(conditions: TaskListConditions, isFirstPage: boolean): string {
  // A row comparison is one index range. The equivalent expression with OR would scan the index.
  const after = isFirstPage ? "" : " AND (timestamp, task_id) < ($afterTimestamp, $afterTaskId)";
  const ranges = buildIndexRanges("key, timestamp, task_id", conditions).map((range) => range + after);
  return `${ranges.join("\nUNION ALL\n")}\nORDER BY timestamp DESC, task_id DESC LIMIT $limit`;
}

/**
 * Builds the query for the number of matching tasks. The query stops to count at `$limit`. The other parameters
 * are those of `buildTaskPageSql`.
 */
export function buildTaskCountSql(conditions: TaskListConditions): string {
  const ranges = buildIndexRanges("1", conditions).join("\nUNION ALL\n");
  return `SELECT count(*) AS count FROM (${ranges}\nLIMIT $limit)`;
}

/** Builds one SELECT per state, because the indexes sort by state before time. */
function buildIndexRanges(
  columns: string,
  { hasContextId, hasStatus, hasStatusSince }: TaskListConditions,
): string[] {
  const index = hasContextId ? "task_by_context" : "task_by_state";
  const context = hasContextId ? " AND context_id = $contextId" : "";
  const since = hasStatusSince ? " AND timestamp >= $statusSince" : "";
  const states = hasStatus ? ["$status"] : STORED_TASK_STATES.map((state) => `'${state}'`);
  return states.map(
    (state) =>
      `SELECT ${columns} FROM task INDEXED BY ${index} WHERE scope = $scope AND state = ${state}${context}${since}`,
  );
}
