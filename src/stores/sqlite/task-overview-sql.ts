import type { TaskState } from "../../protocol/index.ts";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { buildUnionSql } from "./build-union-sql.ts";
import { encodeState } from "./status-columns.ts";
import type { TaskOverviewQuery } from "../server-store.ts";

/** Condition that a task matches the full-text query `$text`. Considers the 20,000 matches that were created last. */
const MATCHES_TEXT_SQL = `task.key IN (
  SELECT rowid FROM task_text_words WHERE task_text_words MATCH $text ORDER BY rowid DESC LIMIT 20000
)`;

const COLUMNS =
  "tenant, principal, agent, task.task_id AS taskId, context_id AS contextId, state, task.timestamp AS timestamp, seq";
/** A row comparison is one index range. The equivalent expression with OR would scan the index. */
const TIME_RANGE =
  "timestamp >= $since AND timestamp <= $until AND (timestamp, task_id) < ($afterTimestamp, $afterTaskId)";

/** Builds the query for a page of one scope, which merges one index range per state. */
export function buildScopeSql({ status, contextId }: TaskOverviewQuery, maxUnionTerms?: number): string {
  const [index, context] =
    contextId === undefined ? ["task_by_state", ""] : ["task_by_context", " AND context_id = $contextId"];
  const sources = [`${index} WHERE running = 0${context}`, `task_running WHERE running = 1${context}`];
  return buildPageSql(
    listStates(status).flatMap((state) =>
      sources.map((source) => `${source} AND scope = $scope AND state = ${encodeState(state)}`),
    ),
    maxUnionTerms,
  );
}

/**
 * Builds the query for a page of all callers. `task_stopped` contains the scope, so that SQLite skips the tasks of
 * other agents without reading them. SQLite sorts the tasks with a running turn, and looks up a context in each scope.
 */
export function buildAllCallersSql(
  { status, agent, contextId }: TaskOverviewQuery,
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
  return buildPageSql(
    [
      ...listStates(status).map((one) => `${stopped} AND state = ${encodeState(one)}`),
      `task_running WHERE running = 1${filter}${context}${state}`,
    ],
    maxUnionTerms,
  );
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
  const state = status === undefined ? "" : ` AND state = ${encodeState(status)}`;
  return `SELECT ${COLUMNS} FROM task NOT INDEXED JOIN scope ON scope.key = task.scope
    WHERE ${MATCHES_TEXT_SQL} AND ${scopeCondition}${context}${state} AND ${TIME_RANGE}
    ORDER BY timestamp DESC, task_id DESC LIMIT $limit`;
}

function listStates(status: TaskState | undefined): readonly TaskState[] {
  return status === undefined ? STORED_TASK_STATES : [status];
}

/** Builds the query for a page from ranges of indexes. */
function buildPageSql(sources: readonly string[], maxUnionTerms: number | undefined): string {
  const ranges = sources.map(
    (source) => `SELECT key, timestamp, task_id FROM task INDEXED BY ${source} AND ${TIME_RANGE}`,
  );
  return `SELECT ${COLUMNS} FROM (
      ${buildUnionSql(ranges, "ORDER BY timestamp DESC, task_id DESC LIMIT $limit", maxUnionTerms)}
    ) AS page JOIN task ON task.key = page.key JOIN scope ON scope.key = task.scope`;
}
