import type { TaskListPage, TaskListQuery, TaskScope } from "../../engine/index.ts";
import type { Task, TaskState } from "../../protocol/index.ts";
import type { LogLines } from "../logged-events.ts";
import { restoreTaskWithoutArtifacts, type SnapshotRow } from "../restore-task.ts";
import type { TaskOverview, TaskOverviewEntry, TaskOverviewQuery, TextIndex } from "../server-store.ts";
import { toScope } from "../task-owner-scope-key.ts";
import { parseTextQuery, type TextQuery } from "../task-words.ts";
import type { SqlValue } from "./sql-database.ts";
import { decodeStatus, encodeTime, type StatusColumns } from "./status-columns.ts";
import {
  buildAllCallersSql,
  buildScopeSql,
  buildTaskCountSql,
  buildTaskPageSql,
  buildTaskSizesSql,
  buildTextSql,
} from "./task-list-sql.ts";
import { restoreTaskByKey } from "./task-reader.ts";
import type { SqlAccess, TaskTables } from "./task-tables.ts";

/**
 * Largest number of tasks that the store counts for a filter by context or time. Counting blocks the event loop
 * for about 0.1 ms per 1,000 tasks.
 */
export const MAX_COUNTED_TASKS = 1000;

const NO_TASKS: TaskListPage = { tasks: [], hasMore: false, total: 0 };

/** A listed task and its size in bytes of JSON. */
interface TaskSize {
  readonly key: number;
  readonly size: number;
}

/** A row of the query for a page, which contains a log row of a task. */
interface TaskPageRow {
  readonly key: number;
  readonly snapshotSeq: number | null;
  readonly snapshotSize: number | null;
  /** NULL if the task has no log row after its snapshot. */
  readonly seq: number | null;
  readonly size: number | null;
  /** Events as JSON lines, or NULL if the row is large. */
  readonly lines: string | null;
}

/** A listed task, with its log rows after the snapshot. `size` excludes artifacts. */
interface TaskWithLogRows extends TaskSize {
  readonly snapshotSeq: number | null;
  readonly rows: readonly TaskPageRow[];
}

/** Lists committed tasks of a scope. The cost of a page does not depend on the number of stored tasks. */
export function listTasks(tables: TaskTables, scope: TaskScope, query: TaskListQuery): TaskListPage {
  const { db, sql, scopes, counts } = tables;
  const scopeKey = scopes.findKey(scope);
  if (scopeKey === undefined) return NO_TASKS;
  const tasksByState = counts.countTasksByState(scopeKey);
  const { status, contextId, statusSince, limit, maxBytes = Infinity, includeArtifacts = false } = query;
  const states = [...tasksByState.keys()].filter((state) => status === undefined || state === status);
  if (states.length === 0) return NO_TASKS;
  const parameters = { ...toPageParameters(query), $scope: scopeKey };
  const countTasks = (): number => {
    const { $scope, $since, $contextId } = parameters;
    const row = sql.get<{ count: number }>(buildTaskCountSql(query, states, db.maxUnionTerms), {
      $scope,
      $since,
      $limit: MAX_COUNTED_TASKS,
      ...($contextId === undefined ? {} : { $contextId }),
    });
    return row?.count ?? 0;
  };
  const total =
    contextId === undefined && statusSince === undefined ? sumCounts(states, tasksByState) : countTasks();
  const toPage = <T extends TaskSize>(listed: readonly T[], restore: (task: T) => Task): TaskListPage => {
    const shown = listed.slice(0, Math.min(limit, countTasksWithin(maxBytes, listed)));
    return { tasks: shown.map(restore), hasMore: listed.length > shown.length, total };
  };
  if (includeArtifacts)
    return toPage(
      sql.all<TaskSize>(buildTaskSizesSql(query, states, db.maxUnionTerms), parameters),
      ({ key }) => restoreTaskByKey(tables, key).task,
    );
  const rows = sql.all<TaskPageRow>(buildTaskPageSql(query, states, db.maxUnionTerms), parameters);
  return toPage(groupByTask(rows), (task) => restoreListedTask(tables, task));
}

function sumCounts(states: readonly TaskState[], counts: ReadonlyMap<TaskState, number>): number {
  return states.reduce((total, state) => total + (counts.get(state) ?? 0), 0);
}

/** Folds the snapshot and the later events of a task, except artifact events. */
function restoreListedTask({ sql }: TaskTables, { key, snapshotSeq, rows }: TaskWithLogRows): Task {
  const snapshot =
    snapshotSeq === null
      ? undefined
      : sql.get<SnapshotRow>("SELECT seq, json FROM snapshot WHERE task = ?", key);
  const readLines = (seq: number): string =>
    sql.get<LogLines>("SELECT lines FROM log WHERE task = ? AND seq = ?", key, seq)?.lines ?? "";
  const logRows = rows.flatMap(({ seq, lines }) =>
    seq === null ? [] : [{ seq, lines: lines ?? readLines(seq) }],
  );
  return restoreTaskWithoutArtifacts(snapshot, logRows);
}

/** Groups the rows of a page by task. The rows of a task are consecutive. */
function groupByTask(rows: readonly TaskPageRow[]): TaskWithLogRows[] {
  return [...Map.groupBy(rows, ({ key }) => key)].map(([key, ofTask]) => {
    const [{ snapshotSeq, snapshotSize }] = ofTask as [TaskPageRow];
    const size = ofTask.reduce((sum, row) => sum + (row.size ?? 0), snapshotSize ?? 0);
    return { key, size, snapshotSeq, rows: ofTask };
  });
}

/** Returns how many of the first tasks have a total size of at most `maxBytes`, but at least 1. */
function countTasksWithin(maxBytes: number, tasks: readonly TaskSize[]): number {
  let bytes = 0;
  const end = tasks.findIndex(({ size }) => (bytes += size) > maxBytes);
  return end === -1 ? tasks.length : Math.max(end, 1);
}

/** Selects one more task than the page contains, so that the reader knows whether a further page exists. */
function toPageParameters({ contextId, statusSince, statusUntil, after, limit }: TaskOverviewQuery): {
  readonly $limit: number;
  readonly $since: number;
  readonly $beforeTime: number;
  readonly $beforeTaskId: string;
  readonly $contextId?: string;
} {
  const end = statusUntil === undefined ? Number.MAX_SAFE_INTEGER : encodeTime(statusUntil) + 1;
  const afterTime = after ? encodeTime(after.timestamp) : end;
  return {
    $limit: limit + 1,
    $since: statusSince === undefined ? 0 : encodeTime(statusSince),
    ...(after && afterTime < end
      ? { $beforeTime: afterTime, $beforeTaskId: after.taskId }
      : { $beforeTime: end, $beforeTaskId: "" }),
    ...(contextId === undefined ? {} : { $contextId: contextId }),
  };
}

type OverviewRow = TaskScope & StatusColumns & Omit<TaskOverviewEntry, "scope" | "state" | "timestamp">;

/** Creates the lists for operators. The cost of a page does not depend on the number of tasks. */
export function createSqlTaskOverview({ read, isInDoubt }: SqlAccess, textIndex: TextIndex): TaskOverview {
  return {
    textIndex,
    list: (query) =>
      read(
        (tables) => {
          const rows = selectOverviewRows(tables, query).toSorted(compareNewestFirst);
          return {
            tasks: rows.slice(0, query.limit).map(toOverviewEntry),
            hasMore: rows.length > query.limit,
          };
        },
        ({ tasks }) => tasks.some(({ scope, taskId }) => isInDoubt(scope, taskId)),
      ),
    findScope: (agent, taskId) =>
      read(({ sql }) => {
        const row = sql.get<TaskScope>(
          `SELECT tenant, principal, agent FROM scope CROSS JOIN task ON task.scope = scope.key AND task.task_id = $taskId
           WHERE agent = $agent LIMIT 1`,
          { $agent: agent, $taskId: taskId },
        );
        return row && toScope(row);
      }),
  };
}

/** Returns at least the rows of the page and one more row, if they exist, in any order. */
function selectOverviewRows({ db, sql, scopes }: TaskTables, query: TaskOverviewQuery): OverviewRow[] {
  const select = (text: string, parameters: Record<string, SqlValue>): OverviewRow[] =>
    sql.all<OverviewRow>(text, { ...toPageParameters(query), ...parameters });
  const keys = query.scopes?.flatMap((scope) => scopes.findKey(scope) ?? []);
  const agent: Record<string, SqlValue> = keys || query.agent === undefined ? {} : { $agent: query.agent };
  if (query.text !== undefined) {
    const textQuery = parseTextQuery(query.text);
    // A text without words matches no task.
    if (!textQuery) return [];
    const scopeKeys: Record<string, SqlValue> = keys ? { $scopes: JSON.stringify(keys) } : {};
    return select(buildTextSql(query), { $text: toFullTextQuery(textQuery), ...scopeKeys, ...agent });
  }
  if (!keys) return select(buildAllCallersSql(query, db.maxUnionTerms), agent);
  const text = buildScopeSql(query, db.maxUnionTerms);
  return keys.flatMap(($scope) => select(text, { $scope }));
}

function compareNewestFirst(a: OverviewRow, b: OverviewRow): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? 1 : -1;
  return a.taskId < b.taskId ? 1 : -1;
}

function toOverviewEntry(row: OverviewRow): TaskOverviewEntry {
  const { taskId, contextId, seq } = row;
  return { scope: toScope(row), taskId, contextId, seq, ...decodeStatus(row) };
}

/** Converts a query to the query language of SQLite's full-text search. Words contain no quotation marks. */
export function toFullTextQuery({ words, prefix }: TextQuery): string {
  return `${[...words, prefix].map((word) => `"${word}"`).join(" ")} *`;
}
