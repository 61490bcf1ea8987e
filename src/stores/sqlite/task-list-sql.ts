import type { TaskState } from "../../protocol/index.ts";
import type { TaskOverviewQuery } from "../server-store.ts";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { buildUnionSql } from "./build-union-sql.ts";
import { encodeState } from "./status-columns.ts";

/** The conditions of a list that need their own SQL. The values of all other conditions are bound parameters. */
export type TaskListConditions = Pick<TaskOverviewQuery, "status" | "contextId">;

/** Log rows of at most this size are read together with the page. Larger rows are read one by one. */
const MAX_ROW_BYTES_IN_PAGE = 64 * 1024;

/**
 * The tasks of a page by status time. A row comparison is one index range. The equivalent expression with OR would scan
 * the index.
 */
const TIME_RANGE = "timestamp >= $since AND (timestamp, task_id) < ($beforeTime, $beforeTaskId)";

const PAGE_ORDER = "ORDER BY timestamp DESC, task_id DESC LIMIT $limit";

const OVERVIEW_COLUMNS =
  "tenant, principal, agent, task.task_id AS taskId, context_id AS contextId, state, task.timestamp AS timestamp, seq";

/** Condition that a task matches the full-text query `$text`. Considers the 20,000 matches that were created last. */
const MATCHES_TEXT_SQL = `task.key IN (
  SELECT rowid FROM task_text_words WHERE task_text_words MATCH $text ORDER BY rowid DESC LIMIT 20000
)`;

/**
 * Builds the query for the keys of a page of one scope, in list order. Each index range is in list order, so SQLite reads
 * only the page. Parameters: `$scope`, `$since`, `$beforeTime`, `$beforeTaskId`, `$limit`, and `$contextId` for the
 * condition. The list need not contain states without tasks. `maxUnionTerms` is the limit of the `SqlDatabase`.
 */
function buildScopeKeysSql(
  { contextId }: TaskListConditions,
  states: readonly TaskState[],
  maxUnionTerms?: number,
): string {
  const ranges = buildScopeRanges("key, timestamp, task_id", contextId !== undefined, states);
  return buildUnionSql(
    ranges.map((range) => `${range} AND ${TIME_RANGE}`),
    PAGE_ORDER,
    maxUnionTerms,
  );
}

/**
 * Builds the SELECTs of index ranges, which sort by state before time. The tasks with a running turn are so few that
 * SQLite reads those of all contexts.
 */
function buildScopeRanges(columns: string, hasContextId: boolean, states: readonly TaskState[]): string[] {
  const context = hasContextId ? " AND context_id = $contextId" : "";
  const sources = [
    `${hasContextId ? "task_by_context" : "task_by_state"} WHERE running = 0${context}`,
    `task_running WHERE running = 1${context}`,
  ];
  return states.flatMap((state) =>
    sources.map(
      (source) =>
        `SELECT ${columns} FROM task INDEXED BY ${source} AND scope = $scope AND state = ${encodeState(state)}`,
    ),
  );
}

/**
 * Builds the query for a page of tasks with the log rows after their snapshots, except rows of artifacts. The result
 * has one row per log row, in list order, and at least one row per task. `lines` is NULL for a large row. SQLite
 * computes `octet_length` of a column without reading the content of the column.
 */
export function buildTaskPageSql(...page: Parameters<typeof buildScopeKeysSql>): string {
  return `SELECT page.key AS key, snapshot.seq AS snapshotSeq, octet_length(snapshot.json) AS snapshotSize,
      log.seq AS seq, octet_length(log.lines) AS size,
      CASE WHEN octet_length(log.lines) <= ${MAX_ROW_BYTES_IN_PAGE} THEN log.lines END AS lines
    FROM (${buildScopeKeysSql(...page)}) AS page
      LEFT JOIN snapshot ON snapshot.task = page.key
      LEFT JOIN log ON log.task = page.key AND log.seq > coalesce(snapshot.seq, 0) AND has_only_artifacts = 0`;
}

/** Builds the query for the keys of a page, with the stored size of each task including artifacts. */
export function buildTaskSizesSql(...page: Parameters<typeof buildScopeKeysSql>): string {
  // A snapshot can reference artifact content in earlier rows.
  return `SELECT page.key AS key, coalesce(octet_length(snapshot.json), 0) + coalesce((
        SELECT sum(octet_length(lines)) FROM log
        WHERE log.task = page.key AND log.seq > coalesce(snapshot.first_referenced_seq - 1, snapshot.seq, 0)
      ), 0) AS size
    FROM (${buildScopeKeysSql(...page)}) AS page
      LEFT JOIN snapshot ON snapshot.task = page.key`;
}

/** Builds the query for the number of matching tasks. The query stops to count at `$limit`. */
export function buildTaskCountSql(
  { contextId }: TaskListConditions,
  states: readonly TaskState[],
  maxUnionTerms?: number,
): string {
  const ranges = buildScopeRanges("1", contextId !== undefined, states).map(
    (range) => `${range} AND timestamp >= $since`,
  );
  return `SELECT count(*) AS count FROM (${buildUnionSql(ranges, "LIMIT $limit", maxUnionTerms)})`;
}

/** Builds the query for a page of one scope for operators. */
export function buildScopeSql(conditions: TaskListConditions, maxUnionTerms?: number): string {
  return buildOverviewSql(buildScopeKeysSql(conditions, listStates(conditions.status), maxUnionTerms));
}

/**
 * Builds the query for a page of all callers. `task_stopped` contains the scope, so that SQLite skips the tasks of
 * other agents without reading them. SQLite sorts the tasks with a running turn, and looks up a context in each scope.
 */
export function buildAllCallersSql(
  { status, agent, contextId }: TaskListConditions & Pick<TaskOverviewQuery, "agent">,
  maxUnionTerms?: number,
): string {
  const scopes = agent === undefined ? "SELECT key FROM scope" : "SELECT key FROM scope WHERE agent = $agent";
  // The operator `+` prevents a search of the index for each scope.
  const filter = agent === undefined ? "" : ` AND +scope IN (${scopes})`;
  const context = contextId === undefined ? "" : " AND context_id = $contextId";
  const stopped =
    contextId === undefined
      ? `task_stopped WHERE running = 0${filter}`
      : `task_by_context WHERE running = 0 AND scope IN (${scopes})${context}`;
  const state = status === undefined ? "" : ` AND state = ${encodeState(status)}`;
  const ranges = [
    ...listStates(status).map((one) => `${stopped} AND state = ${encodeState(one)}`),
    `task_running WHERE running = 1${filter}${context}${state}`,
  ].map((source) => `SELECT key, timestamp, task_id FROM task INDEXED BY ${source} AND ${TIME_RANGE}`);
  return buildOverviewSql(buildUnionSql(ranges, PAGE_ORDER, maxUnionTerms));
}

/**
 * Builds the query for a page of the tasks that contain words. SQLite sorts the tasks that the text index finds. With an
 * index of tasks, SQLite would read all tasks of a state.
 */
export function buildTextSql({ status, scopes, agent, contextId }: Omit<TaskOverviewQuery, "limit">): string {
  const scopeCondition = scopes
    ? "task.scope IN (SELECT value FROM json_each($scopes))"
    : agent === undefined
      ? "TRUE"
      : "agent = $agent";
  const context = contextId === undefined ? "" : " AND context_id = $contextId";
  const state = status === undefined ? "" : ` AND state = ${encodeState(status)}`;
  return `SELECT ${OVERVIEW_COLUMNS} FROM task NOT INDEXED JOIN scope ON scope.key = task.scope
    WHERE ${MATCHES_TEXT_SQL} AND ${scopeCondition}${context}${state} AND ${TIME_RANGE}
    ${PAGE_ORDER}`;
}

function listStates(status: TaskState | undefined): readonly TaskState[] {
  return status === undefined ? STORED_TASK_STATES : [status];
}

function buildOverviewSql(pageSql: string): string {
  return `SELECT ${OVERVIEW_COLUMNS} FROM (${pageSql}) AS page
    JOIN task ON task.key = page.key JOIN scope ON scope.key = task.scope`;
}
