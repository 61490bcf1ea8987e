import type { TaskState } from "../../protocol/index.ts";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { buildUnionSql } from "./build-union-sql.ts";
import type { TaskOverviewQuery } from "../server-store.ts";

/** Condition that a task matches the full-text query `$text`. Considers the 20,000 matches that were created last. */
const MATCHES_TEXT_SQL = `task.key IN (
  SELECT rowid FROM task_text_words WHERE task_text_words MATCH $text ORDER BY rowid DESC LIMIT 20000
)`;

/**
 * Index for lists of the tasks of all callers. Only servers with operators create the index, because each append has to
 * maintain the index.
 */
export const CREATE_OVERVIEW_INDEX_SQL =
  "CREATE INDEX IF NOT EXISTS task_overview ON task (state, timestamp, task_id, scope)";

const COLUMNS =
  "tenant, principal, agent, task.task_id AS taskId, context_id AS contextId, state, task.timestamp AS timestamp, seq";
/** A row comparison is one index range. The equivalent expression with OR would scan the index. */
const TIME_RANGE =
  "timestamp >= $since AND timestamp <= $until AND (timestamp, task_id) < ($afterTimestamp, $afterTaskId)";

/** Builds the query for a page of one scope, which merges one index range per state. */
export function buildScopeSql({ status, contextId }: TaskOverviewQuery, maxUnionTerms?: number): string {
  const [index, context] =
    contextId === undefined ? ["task_by_state", ""] : ["task_by_context", " AND context_id = $contextId"];
  return buildPageSql(
    status,
    (state) => `INDEXED BY ${index} WHERE scope = $scope${context} AND state = '${state}'`,
    maxUnionTerms,
  );
}

/**
 * Builds the query for a page of all callers. `task_overview` contains the scope, so that SQLite skips the tasks of
 * other agents without reading them. SQLite looks up a context in each scope.
 */
export function buildAllCallersSql(
  { status, agent, contextId }: TaskOverviewQuery,
  maxUnionTerms?: number,
): string {
  const scopes = agent === undefined ? "SELECT key FROM scope" : "SELECT key FROM scope WHERE agent = $agent";
  const buildRange = (state: TaskState): string => {
    if (contextId !== undefined)
      return `INDEXED BY task_by_context WHERE scope IN (${scopes}) AND context_id = $contextId AND state = '${state}'`;
    const filter = agent === undefined ? "" : ` AND scope IN (${scopes})`;
    return `INDEXED BY task_overview WHERE state = '${state}'${filter}`;
  };
  return buildPageSql(status, buildRange, maxUnionTerms);
}

/**
 * Builds the query for a page of the tasks that contain words. SQLite sorts the tasks that the text index finds. With an
 * index of tasks, SQLite would read all tasks of a state.
 */
export function buildTextSql({ status, scopes, agent, contextId }: TaskOverviewQuery): string {
  const scopeCondition = scopes
    ? "task.scope IN (SELECT value FROM json_each($scopes))"
    : agent === undefined
      ? "TRUE"
      : "agent = $agent";
  const context = contextId === undefined ? "" : " AND context_id = $contextId";
  const state = status === undefined ? "" : ` AND state = '${status}'`;
  return `SELECT ${COLUMNS} FROM task NOT INDEXED JOIN scope ON scope.key = task.scope
    WHERE ${MATCHES_TEXT_SQL} AND ${scopeCondition}${context}${state} AND ${TIME_RANGE}
    ORDER BY timestamp DESC, task_id DESC LIMIT $limit`;
}

/** Builds the query for a page from the index range of each state. */
function buildPageSql(
  status: TaskState | undefined,
  buildRange: (state: TaskState) => string,
  maxUnionTerms: number | undefined,
): string {
  const states = status === undefined ? STORED_TASK_STATES : [status];
  const ranges = states.map(
    (state) => `SELECT key, timestamp, task_id FROM task ${buildRange(state)} AND ${TIME_RANGE}`,
  );
  return `SELECT ${COLUMNS} FROM (
      ${buildUnionSql(ranges, "ORDER BY timestamp DESC, task_id DESC LIMIT $limit", maxUnionTerms)}
    ) AS page JOIN task ON task.key = page.key JOIN scope ON scope.key = task.scope`;
}
