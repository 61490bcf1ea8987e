import type { TaskState } from "../../protocol/index.ts";
import { buildUnionSql } from "./build-union-sql.ts";
import { encodeState } from "./status-columns.ts";

/** The conditions of a task list that need their own SQL. The values of all other conditions are bound parameters. */
export interface TaskListConditions {
  /** At least one state. A query merges one index range per state. */
  readonly states: readonly TaskState[];
  readonly hasContextId: boolean;
  readonly hasStatusSince: boolean;
  /** The limit `SqlDatabase.maxUnionTerms` of the database. */
  readonly maxUnionTerms?: number | undefined;
}

/** Log rows of at most this size are read together with the page. Larger rows are read one by one. */
const MAX_ROW_BYTES_IN_PAGE = 64 * 1024;

/**
 * Builds the query for a page of tasks with the log rows after their snapshots, except rows of artifacts. The result
 * has one row per log row, in list order, and at least one row per task. `lines` is NULL for a large row. SQLite
 * computes `octet_length` of a column without reading the content of the column. Parameters: `$scope`, `$limit`, and
 * `$contextId`, `$statusSince`, `$afterTimestamp`, and `$afterTaskId` for the conditions.
 */
export function buildTaskPageSql(conditions: TaskListConditions, isFirstPage: boolean): string {
  return `SELECT page.key AS key, snapshot.seq AS snapshotSeq, octet_length(snapshot.json) AS snapshotSize,
      log.seq AS seq, octet_length(log.lines) AS size,
      CASE WHEN octet_length(log.lines) <= ${MAX_ROW_BYTES_IN_PAGE} THEN log.lines END AS lines
    FROM (${buildPageKeysSql(conditions, isFirstPage)}) AS page
      LEFT JOIN snapshot ON snapshot.task = page.key
      LEFT JOIN log ON log.task = page.key AND log.seq > coalesce(snapshot.seq, 0) AND has_only_artifacts = 0`;
}

/**
 * Builds the query for the keys of a page of tasks, in list order, with the stored size of each task including
 * artifacts. The parameters are those of `buildTaskPageSql`.
 */
export function buildTaskSizesSql(conditions: TaskListConditions, isFirstPage: boolean): string {
  // A snapshot can reference artifact content in earlier rows.
  return `SELECT page.key AS key, coalesce(octet_length(snapshot.json), 0) + coalesce((
        SELECT sum(octet_length(lines)) FROM log
        WHERE log.task = page.key AND log.seq > coalesce(snapshot.first_referenced_seq - 1, snapshot.seq, 0)
      ), 0) AS size
    FROM (${buildPageKeysSql(conditions, isFirstPage)}) AS page
      LEFT JOIN snapshot ON snapshot.task = page.key`;
}

/** Builds the query for the keys of a page. Each index range is in list order, so SQLite reads only the page. */
function buildPageKeysSql(conditions: TaskListConditions, isFirstPage: boolean): string {
  // A row comparison is one index range. The equivalent expression with OR would scan the index.
  const after = isFirstPage ? "" : " AND (timestamp, task_id) < ($afterTimestamp, $afterTaskId)";
  const ranges = buildIndexRanges("key, timestamp, task_id", conditions).map((range) => range + after);
  return buildUnionSql(
    ranges,
    "ORDER BY timestamp DESC, task_id DESC LIMIT $limit",
    conditions.maxUnionTerms,
  );
}

/**
 * Builds the query for the number of matching tasks. The query stops to count at `$limit`. The other parameters
 * are those of `buildTaskPageSql`.
 */
export function buildTaskCountSql(conditions: TaskListConditions): string {
  const ranges = buildUnionSql(buildIndexRanges("1", conditions), "LIMIT $limit", conditions.maxUnionTerms);
  return `SELECT count(*) AS count FROM (${ranges})`;
}

/**
 * Builds the SELECTs of index ranges, which sort by state before time. The tasks with a running turn are so few that
 * SQLite reads those of all contexts.
 */
function buildIndexRanges(
  columns: string,
  { states, hasContextId, hasStatusSince }: TaskListConditions,
): string[] {
  const context = hasContextId ? " AND context_id = $contextId" : "";
  const sources = [
    `${hasContextId ? "task_by_context" : "task_by_state"} WHERE running = 0${context}`,
    `task_running WHERE running = 1${context}`,
  ];
  const since = hasStatusSince ? " AND timestamp >= $statusSince" : "";
  return states.flatMap((state) =>
    sources.map(
      (source) =>
        `SELECT ${columns} FROM task INDEXED BY ${source} AND scope = $scope AND state = ${encodeState(state)}${since}`,
    ),
  );
}
