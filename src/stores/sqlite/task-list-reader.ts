import type { SqlDatabase, SqlValue, SqlStatement } from "./sql-database.ts";
import type { TaskListPage, TaskListQuery, TaskScope } from "../../engine/index.ts";
import { LogEvent, type Task, type TaskState } from "../../protocol/index.ts";
import { LruCache } from "../../base/data-structures/index.ts";
import { foldLoggedEvents } from "../fold-logged-events.ts";
import { selectListedEvents } from "../select-listed-events.ts";
import { encodeTime } from "./status-columns.ts";
import type { TaskCountTable } from "./task-count-table.ts";
import {
  buildTaskCountSql,
  buildTaskPageSql,
  buildTaskSizesSql,
  type TaskListConditions,
} from "./task-list-sql.ts";
import type { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";
import type { TaskReader } from "./task-reader.ts";

/**
 * Largest number of tasks that the store counts for a filter by context or time. Counting blocks the event loop
 * for about 0.1 ms per 1,000 tasks.
 */
export const MAX_COUNTED_TASKS = 1000;

/** Number of prepared statements that the reader keeps. Statements differ by filter and by the states of the tasks. */
const MAX_PREPARED_STATEMENTS = 64;

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

type TaskListFilter = Pick<TaskListQuery, "contextId" | "status" | "statusSince">;

/** Lists committed tasks. The cost of a page does not depend on the number of stored tasks. */
export class TaskListReader {
  readonly #db: SqlDatabase;
  readonly #scopeTable: TaskOwnerScopeTable;
  readonly #taskCounts: TaskCountTable;
  readonly #reader: TaskReader;
  readonly #statementsBySql = new LruCache<SqlStatement>(MAX_PREPARED_STATEMENTS);
  readonly #selectSnapshot: SqlStatement;
  readonly #selectLines: SqlStatement;

  constructor(
    db: SqlDatabase,
    scopeTable: TaskOwnerScopeTable,
    taskCounts: TaskCountTable,
    reader: TaskReader,
  ) {
    this.#db = db;
    this.#scopeTable = scopeTable;
    this.#taskCounts = taskCounts;
    this.#reader = reader;
    this.#selectSnapshot = db.prepare("SELECT json FROM snapshot WHERE task = ?");
    this.#selectLines = db.prepare("SELECT lines FROM log WHERE task = ? AND seq = ?");
  }

  list(scope: TaskScope, query: TaskListQuery): TaskListPage {
    const scopeKey = this.#scopeTable.findKey(scope);
    if (scopeKey === undefined) return { tasks: [], hasMore: false, total: 0 };
    const counts = this.#taskCounts.countTasksByState(scopeKey);
    const { status, limit, maxBytes = Infinity, includeArtifacts = false } = query;
    const states = [...counts.keys()].filter((state) => status === undefined || state === status);
    if (states.length === 0) return { tasks: [], hasMore: false, total: 0 };
    const total = this.#countTasks(scopeKey, states, counts, query);
    const toPage = <T extends TaskSize>(listed: readonly T[], fold: (task: T) => Task): TaskListPage => {
      const shown = listed.slice(0, Math.min(limit, countTasksWithin(maxBytes, listed)));
      return { tasks: shown.map(fold), hasMore: listed.length > shown.length, total };
    };
    return includeArtifacts
      ? toPage(this.#selectSizes(scopeKey, states, query), (task) => this.#reader.foldTask(task))
      : toPage(this.#selectTasksWithLogRows(scopeKey, states, query), (task) =>
          this.#foldWithoutArtifacts(task),
        );
  }

  #selectSizes(scopeKey: number, states: readonly TaskState[], query: TaskListQuery): TaskSize[] {
    const sql = buildTaskSizesSql(this.#toConditions(states, query), query.after === undefined);
    return this.#prepare(sql).all(toPageParameters(scopeKey, query)) as unknown as TaskSize[];
  }

  #selectTasksWithLogRows(
    scopeKey: number,
    states: readonly TaskState[],
    query: TaskListQuery,
  ): TaskWithLogRows[] {
    const sql = buildTaskPageSql(this.#toConditions(states, query), query.after === undefined);
    const rows = this.#prepare(sql).all(toPageParameters(scopeKey, query)) as unknown as TaskPageRow[];
    return groupByTask(rows);
  }

  #countTasks(
    scopeKey: number,
    states: readonly TaskState[],
    counts: ReadonlyMap<TaskState, number>,
    filter: TaskListFilter,
  ): number {
    if (filter.contextId === undefined && filter.statusSince === undefined)
      return states.reduce((total, state) => total + (counts.get(state) ?? 0), 0);
    const row = this.#prepare(buildTaskCountSql(this.#toConditions(states, filter))).get({
      $scope: scopeKey,
      $limit: MAX_COUNTED_TASKS,
      ...toParameters(filter),
    });
    return row?.["count"] as number;
  }

  /** Folds the snapshot and the later events of a task, except artifact events. */
  #foldWithoutArtifacts({ key, snapshotSeq, rows }: TaskWithLogRows): Task {
    const json = snapshotSeq === null ? undefined : (this.#selectSnapshot.get(key)?.["json"] as string);
    const snapshot = json === undefined ? undefined : (JSON.parse(json) as Task);
    const texts = selectListedEvents(rows.flatMap((row) => this.#readEventTexts(row)));
    const events = texts.map((jsonText, at) => LogEvent.fromJsonText((snapshotSeq ?? 0) + at + 1, jsonText));
    const { artifacts: _, ...task } = foldLoggedEvents(snapshot, events) as Task;
    return task;
  }

  #readEventTexts({ key, seq, lines }: TaskPageRow): string[] {
    if (seq === null) return [];
    const text = lines ?? this.#selectLines.get(key, seq)?.["lines"];
    return (text as string).split("\n");
  }

  #toConditions(
    states: readonly TaskState[],
    { contextId, statusSince }: TaskListFilter,
  ): TaskListConditions {
    const { maxUnionTerms } = this.#db;
    const hasStatusSince = statusSince !== undefined;
    return { states, hasContextId: contextId !== undefined, hasStatusSince, maxUnionTerms };
  }

  #prepare(sql: string): SqlStatement {
    let statement = this.#statementsBySql.get(sql);
    if (!statement) this.#statementsBySql.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }
}

/** Groups the rows of a page by task. The rows of a task are consecutive. */
function groupByTask(rows: readonly TaskPageRow[]): TaskWithLogRows[] {
  const tasks: TaskWithLogRows[] = [];
  for (let start = 0, end = 0; start < rows.length; start = end) {
    const { key, snapshotSeq, snapshotSize } = rows[start] as TaskPageRow;
    let size = snapshotSize ?? 0;
    for (; rows[end]?.key === key; end++) size += rows[end]?.size ?? 0;
    tasks.push({ key, size, snapshotSeq, rows: rows.slice(start, end) });
  }
  return tasks;
}

/** Returns how many of the first tasks have a total size of at most `maxBytes`, but at least 1. */
function countTasksWithin(maxBytes: number, tasks: readonly TaskSize[]): number {
  let bytes = 0;
  const end = tasks.findIndex(({ size }) => (bytes += size) > maxBytes);
  return end === -1 ? tasks.length : Math.max(end, 1);
}

/** Selects one more task than the page contains, so that the reader knows whether a further page exists. */
function toPageParameters(scopeKey: number, query: TaskListQuery): Record<string, SqlValue> {
  const { after, limit } = query;
  return {
    $scope: scopeKey,
    $limit: limit + 1,
    ...toParameters(query),
    ...(after ? { $afterTimestamp: encodeTime(after.timestamp), $afterTaskId: after.taskId } : {}),
  };
}

function toParameters({ contextId, statusSince }: TaskListFilter): Record<string, SqlValue> {
  return {
    ...(contextId === undefined ? {} : { $contextId: contextId }),
    ...(statusSince === undefined ? {} : { $statusSince: encodeTime(statusSince) }),
  };
}
