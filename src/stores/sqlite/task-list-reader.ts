import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { TaskListPage, TaskListQuery, TaskScope } from "../../engine/index.ts";
import { LogEvent, type Task } from "../../protocol/index.ts";
import { foldLoggedEvents } from "../fold-logged-events.ts";
import type { TaskCountTable } from "./task-count-table.ts";
import { buildTaskCountSql, buildTaskPageSql, type TaskListConditions } from "./task-list-sql.ts";
import type { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";
import type { TaskReader } from "./task-reader.ts";
import { isArtifactEventText, type LogRow } from "./to-log-rows.ts";

/**
 * Largest number of tasks that the store counts for a filter by context or time. Counting blocks the event loop
 * for about 0.1 ms per 1,000 tasks.
 */
export const MAX_COUNTED_TASKS = 1000;

/** Sizes are in bytes of JSON, including artifacts only if the list includes them. */
interface TaskSizeRow {
  readonly key: number;
  readonly snapshotSeq: number | null;
  readonly size: number;
}

type TaskListFilter = Pick<TaskListQuery, "contextId" | "status" | "statusSince">;

/** Lists committed tasks. The cost of a page does not depend on the number of stored tasks. */
export class TaskListReader {
  readonly #db: DatabaseSync;
  readonly #scopeTable: TaskOwnerScopeTable;
  readonly #taskCounts: TaskCountTable;
  readonly #reader: TaskReader;
  readonly #statementsBySql = new Map<string, StatementSync>();
  readonly #selectSizes: StatementSync;
  readonly #selectSizesWithArtifacts: StatementSync;
  readonly #selectSnapshot: StatementSync;
  readonly #selectOtherRows: StatementSync;

  constructor(
    db: DatabaseSync,
    scopeTable: TaskOwnerScopeTable,
    taskCounts: TaskCountTable,
    reader: TaskReader,
  ) {
    this.#db = db;
    this.#scopeTable = scopeTable;
    this.#taskCounts = taskCounts;
    this.#reader = reader;
    // SQLite computes `octet_length` of a column without reading the content of the column.
    const selectSizes = (firstRows: string): StatementSync =>
      db.prepare(
        `SELECT listed.value AS key, snapshot.seq AS snapshotSeq,
           coalesce(octet_length(snapshot.json), 0) + coalesce((
             SELECT sum(octet_length(lines)) FROM log
             WHERE log.task = listed.value AND ${firstRows}
           ), 0) AS size
         FROM json_each(?) AS listed LEFT JOIN snapshot ON snapshot.task = listed.value`,
      );
    this.#selectSizes = selectSizes("log.seq > coalesce(snapshot.seq, 0) AND has_only_artifacts = 0");
    // A snapshot can reference artifact content in earlier rows.
    this.#selectSizesWithArtifacts = selectSizes(
      "log.seq > coalesce(snapshot.first_referenced_seq - 1, snapshot.seq, 0)",
    );
    this.#selectSnapshot = db.prepare("SELECT json FROM snapshot WHERE task = ?");
    // CROSS JOIN keeps the order of the loops, so the rows of each task are in the order of the index on (task, seq).
    this.#selectOtherRows = db.prepare(
      `SELECT log.task AS key, log.seq AS seq, lines
       FROM json_each(?) AS listed LEFT JOIN snapshot ON snapshot.task = listed.value
         CROSS JOIN log ON log.task = listed.value AND log.seq > coalesce(snapshot.seq, 0) AND has_only_artifacts = 0`,
    );
  }

  list(scope: TaskScope, query: TaskListQuery): TaskListPage {
    const scopeKey = this.#scopeTable.findKey(scope);
    if (scopeKey === undefined) return { tasks: [], hasMore: false, total: 0 };
    const { limit, maxBytes = Infinity, includeArtifacts = false } = query;
    const keys = this.#selectPageKeys(scopeKey, query, limit + 1);
    const sizes = this.#measureTasks(keys.slice(0, limit), includeArtifacts);
    const shown = sizes.slice(0, countTasksWithin(maxBytes, sizes));
    return {
      tasks: includeArtifacts
        ? shown.map((task) => this.#reader.foldTask(task))
        : this.#foldWithoutArtifacts(shown),
      hasMore: keys.length > shown.length,
      total: this.#countTasks(scopeKey, query),
    };
  }

  #selectPageKeys(scopeKey: number, query: TaskListQuery, limit: number): number[] {
    const { after } = query;
    const position = after && { $afterTimestamp: after.timestamp, $afterTaskId: after.taskId };
    return this.#prepare(buildTaskPageSql(toConditions(query), after === undefined))
      .all({ $scope: scopeKey, $limit: limit, ...toParameters(query), ...position })
      .map(({ key }) => key as number);
  }

  #countTasks(scopeKey: number, filter: TaskListFilter): number {
    const { contextId, status, statusSince } = filter;
    if (contextId === undefined && statusSince === undefined)
      return this.#taskCounts.countTasks(scopeKey, status);
    const row = this.#prepare(buildTaskCountSql(toConditions(filter))).get({
      $scope: scopeKey,
      $limit: MAX_COUNTED_TASKS,
      ...toParameters(filter),
    });
    return row?.["count"] as number;
  }

  /** Measures the stored JSON of the tasks, in the order of `keys`, without reading the JSON. */
  #measureTasks(keys: readonly number[], includeArtifacts: boolean): TaskSizeRow[] {
    if (keys.length === 0) return [];
    const select = includeArtifacts ? this.#selectSizesWithArtifacts : this.#selectSizes;
    return select.all(JSON.stringify(keys)) as unknown as TaskSizeRow[];
  }

  /** Folds the snapshots and the later events of the tasks, without reading rows of artifact events. */
  #foldWithoutArtifacts(tasks: readonly TaskSizeRow[]): Task[] {
    const eventsByTask = this.#readOtherEvents(tasks.map(({ key }) => key));
    return tasks.map(({ key, snapshotSeq }) => {
      const json = snapshotSeq === null ? undefined : (this.#selectSnapshot.get(key)?.["json"] as string);
      const snapshot = json === undefined ? undefined : (JSON.parse(json) as Task);
      const { artifacts: _, ...task } = foldLoggedEvents(snapshot, eventsByTask.get(key) ?? []) as Task;
      return task;
    });
  }

  /** Reads the events after the snapshots, except artifact events. One statement reads the rows of all tasks. */
  #readOtherEvents(keys: readonly number[]): Map<number, LogEvent[]> {
    const eventsByTask = new Map<number, LogEvent[]>();
    for (const row of this.#selectOtherRows.all(JSON.stringify(keys))) {
      const { key, seq, lines } = row as unknown as LogRow & { key: number };
      let events = eventsByTask.get(key);
      if (!events) eventsByTask.set(key, (events = []));
      const texts = lines.split("\n");
      const firstSeq = seq - texts.length + 1;
      for (const [at, jsonText] of texts.entries())
        if (!isArtifactEventText(jsonText)) events.push(LogEvent.fromJsonText(firstSeq + at, jsonText));
    }
    return eventsByTask;
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statementsBySql.get(sql);
    if (!statement) this.#statementsBySql.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }
}

/** Returns how many of the first tasks have a total size of at most `maxBytes`, but at least 1. */
function countTasksWithin(maxBytes: number, sizes: readonly TaskSizeRow[]): number {
  let bytes = 0;
  const end = sizes.findIndex(({ size }) => (bytes += size) > maxBytes);
  return end === -1 ? sizes.length : Math.max(end, 1);
}

function toConditions({ contextId, status, statusSince }: TaskListFilter): TaskListConditions {
  return {
    hasContextId: contextId !== undefined,
    hasStatus: status !== undefined,
    hasStatusSince: statusSince !== undefined,
  };
}

function toParameters({ contextId, status, statusSince }: TaskListFilter): Record<string, SQLInputValue> {
  return {
    ...(contextId === undefined ? {} : { $contextId: contextId }),
    ...(status === undefined ? {} : { $status: status }),
    ...(statusSince === undefined ? {} : { $statusSince: statusSince }),
  };
}
