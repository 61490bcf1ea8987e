import type {
  DeletableTask,
  StoppedTaskQuery,
  SweepClockRecord,
  TaskDeletionOptions,
  TaskDeletionStore,
  TaskSelector,
} from "../task-deletion-store.ts";
import { isInterrupted, isTerminal, TASK_STATES, type TaskState } from "../../protocol/index.ts";
import { deleteInOrder } from "../delete-in-order.ts";
import { decodeDeletableTask, type DeletableTaskRow } from "../stored-rows.ts";
import { buildUnionSql } from "./build-union-sql.ts";
import { decodeState, decodeStatus, encodeState, encodeTime, type StatusColumns } from "./status-columns.ts";
import { restoreTaskByKey } from "./task-reader.ts";
import type { SqlAccess, TaskTables } from "./task-tables.ts";
import { writeSnapshot } from "./task-writer.ts";

/**
 * Maximum size of a snapshot and of the later events that the store folds into a new snapshot. Folding larger
 * tasks would block the event loop, so their events after the snapshot are kept.
 */
const MAX_FOLDED_SIZE = 256 * 1024;
/** Number of log rows that one statement deletes. A log row contains at most about 256 KB. */
const LOG_ROWS_PER_STATEMENT = 16;
const STATES: Record<StoppedTaskQuery["status"], readonly TaskState[]> = {
  ended: TASK_STATES.filter(isTerminal),
  waiting: TASK_STATES.filter(isInterrupted),
};

const SELECT_DELETABLE_TASKS = `
  SELECT task.key AS key, tenant, principal, agent, task_id AS taskId, state, task.timestamp AS timestamp,
    EXISTS (SELECT 1 FROM log WHERE log.task = task.key) AS hasEvents,
    EXISTS (SELECT 1 FROM push WHERE push.task = task.key AND push.owing = 1) AS hasPendingWebhooks`;
const TABLES_WITH_ROWS_OF_TASKS = ["snapshot", "turn", "finished_step", "queued_turn", "push", "message"];

type StoredDeletableTaskRow = Omit<DeletableTaskRow, "state" | "timestamp"> & StatusColumns;

interface DeletionAccess extends Pick<SqlAccess, "read" | "write"> {
  /** Runs a transaction that deletes. If `overwrite` is true, the database overwrites the content with zeros. */
  readonly remove: <T>(work: (tables: TaskTables) => T, overwrite?: boolean) => Promise<T>;
}

/** Creates the part of a deletion store that depends only on the tables. */
export function createSqlDeletionStore({
  read,
  write,
  remove,
}: DeletionAccess): Omit<TaskDeletionStore, "measureSize" | "returnFreeSpace" | "flushDeletions"> {
  return {
    listStoppedTasks: (query) => read((tables) => listStoppedTasks(tables, query)),
    findMatchingTasks: (selector, limit) => read((tables) => findMatchingTasks(tables, selector, limit)),
    deleteEvents: (tasks, options) =>
      remove((tables) => deleteEvents(tables, tasks, options), options.overwrite),
    deleteTasks: (tasks, options) =>
      remove((tables) => deleteTasks(tables, tasks, options), options.overwrite),
    deleteRemnants: (options) => remove((tables) => deleteRemnants(tables, options), options.overwrite),
    sweepClock: {
      read: () =>
        read(({ sql }) => {
          const row = sql.get<Omit<SweepClockRecord, "wasSetBack"> & { wasSetBack: number }>(
            "SELECT wall_ms AS wallMs, ahead_ms AS aheadMs, delayed_ms AS delayedMs, was_set_back AS wasSetBack FROM sweep_clock",
          );
          return { record: row && { ...row, wasSetBack: row.wasSetBack === 1 } };
        }),
      write: ({ wallMs, aheadMs, delayedMs, wasSetBack }) =>
        write(
          ({ sql }) =>
            void sql.run(
              "INSERT OR REPLACE INTO sweep_clock (id, wall_ms, ahead_ms, delayed_ms, was_set_back) VALUES (1, ?, ?, ?, ?)",
              Math.round(wallMs),
              Math.round(aheadMs),
              Math.round(delayedMs),
              Number(wasSetBack),
            ),
        ),
    },
  };
}

function listStoppedTasks(
  { db, sql }: TaskTables,
  { status, before, after, limit }: StoppedTaskQuery,
): DeletableTask[] {
  const rows = sql.all<StoredDeletableTaskRow>(buildStoppedTasksSql(status, db.maxUnionTerms), {
    $before: encodeTime(before),
    $afterTimestamp: after ? encodeTime(after.timestamp) : 0,
    $afterKey: after?.key ?? 0,
    $limit: limit,
  });
  return rows.map((row) => decodeDeletableTask({ ...row, ...decodeStatus(row) }));
}

/**
 * Builds the query for the oldest tasks in some states. SQLite merges one range of `task_stopped` per state with the few
 * tasks whose turn has not ended.
 */
export function buildStoppedTasksSql(status: StoppedTaskQuery["status"], maxUnionTerms?: number): string {
  const states = STATES[status].map(encodeState);
  const ranges = [
    ...states.map((state) => `task_stopped WHERE running = 0 AND state = ${state}`),
    `task_running WHERE running = 1 AND state IN (${states.join(", ")})`,
  ].map(
    (source) =>
      `SELECT key, timestamp FROM task INDEXED BY ${source}
       AND timestamp < $before AND (timestamp, key) > ($afterTimestamp, $afterKey)`,
  );
  return `${SELECT_DELETABLE_TASKS}
    FROM (${buildUnionSql(ranges, "ORDER BY timestamp, key LIMIT $limit", maxUnionTerms)}) AS page
      JOIN task ON task.key = page.key JOIN scope ON scope.key = task.scope
    ORDER BY task.timestamp, task.key`;
}

function findMatchingTasks(
  { sql }: TaskTables,
  { taskId, contextId, principal, tenant, agent }: TaskSelector,
  limit: number,
): DeletableTask[] {
  const wanted = Object.entries({ task_id: taskId, context_id: contextId, principal, tenant, agent });
  const selected = wanted.flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  // CROSS JOIN makes SQLite look up the task in each scope, because no index begins with the task id.
  const rows = sql.all<StoredDeletableTaskRow>(
    `${SELECT_DELETABLE_TASKS} FROM scope CROSS JOIN task ON task.scope = scope.key
     WHERE ${selected.map(({ column }) => `${column} = ?`).join(" AND ")} LIMIT ?`,
    ...selected.map(({ value }) => value),
    limit,
  );
  return rows.map((row) => decodeDeletableTask({ ...row, ...decodeStatus(row) }));
}

/** Deletes events. Call the function only within a transaction. */
function deleteEvents(
  tables: TaskTables,
  tasks: readonly DeletableTask[],
  options: TaskDeletionOptions,
): number {
  return deleteInOrder(tasks, options, ({ key }, isTimeUp) =>
    deleteLogRows(tables, key, coverEventsBySnapshot(tables, key), isTimeUp),
  );
}

/** Deletes the log rows of a task up to the event `throughSeq`. Returns false if the time was up before. */
function deleteLogRows(
  tables: TaskTables,
  key: number,
  throughSeq: number,
  isTimeUp: () => boolean,
): boolean {
  while (deleteOldestLogRows(tables, key, throughSeq) === LOG_ROWS_PER_STATEMENT)
    if (isTimeUp()) return false;
  return true;
}

function deleteOldestLogRows({ sql }: TaskTables, key: number, throughSeq: number): number {
  const { changes } = sql.run(
    `DELETE FROM log WHERE rowid IN (
       SELECT rowid FROM log WHERE task = ? AND seq <= ? ORDER BY seq LIMIT ${LOG_ROWS_PER_STATEMENT})`,
    key,
    throughSeq,
  );
  return Number(changes);
}

/**
 * Deletes tasks. Of a long log, the function deletes only the first rows, and `deleteRemnants` deletes the others. Call
 * the function only within a transaction.
 */
function deleteTasks(
  tables: TaskTables,
  tasks: readonly DeletableTask[],
  options: TaskDeletionOptions,
): number {
  const { sql, scopes, counts, writtenTasks } = tables;
  return deleteInOrder(tasks, options, ({ key, scope, taskId }) => {
    for (const table of TABLES_WITH_ROWS_OF_TASKS) sql.run(`DELETE FROM ${table} WHERE task = ?`, key);
    const deleted = sql.get<{ scope: number; state: number }>(
      "DELETE FROM task WHERE key = ? RETURNING scope, state",
      key,
    );
    if (deleted) counts.moveTask(deleted.scope, decodeState(deleted.state), undefined);
    if (deleteOldestLogRows(tables, key, Number.MAX_SAFE_INTEGER) === LOG_ROWS_PER_STATEMENT)
      sql.run("INSERT INTO deleted_task (key) VALUES (?)", key);
    const scopeKey = scopes.findKey(scope);
    if (scopeKey === undefined) return true;
    writtenTasks.delete(`${scopeKey} ${taskId}`);
    if (scopes.deleteIfUnused(scopeKey, scope)) counts.deleteScope(scopeKey);
    return true;
  });
}

/**
 * Deletes log rows of deleted tasks. Returns true if more rows remain. Call the function only within a transaction.
 */
function deleteRemnants(tables: TaskTables, { budgetMs }: TaskDeletionOptions): boolean {
  const deadline = performance.now() + budgetMs;
  for (;;) {
    const remnant = tables.sql.get<{ key: number }>("SELECT key FROM deleted_task LIMIT 1");
    if (!remnant) return false;
    if (!deleteLogRows(tables, remnant.key, Number.MAX_SAFE_INTEGER, () => performance.now() >= deadline))
      return true;
    tables.sql.run("DELETE FROM deleted_task WHERE key = ?", remnant.key);
  }
}

/**
 * Returns the sequence number up to which the store does not need the events of the task. If the newest events are
 * small, the function first writes a snapshot that contains all events. Events from the first referenced event on are
 * kept until the task is deleted.
 */
function coverEventsBySnapshot(tables: TaskTables, key: number): number {
  const row = tables.sql.get<{
    seq: number;
    coveredSeq: number;
    firstReferencedSeq: number | null;
    size: number;
  }>(
    `SELECT task.seq AS seq, coalesce(snapshot.seq, 0) AS coveredSeq, first_referenced_seq AS firstReferencedSeq,
       coalesce(octet_length(snapshot.json), 0) + coalesce((
         SELECT sum(octet_length(lines)) FROM log WHERE log.task = task.key AND log.seq > coalesce(snapshot.seq, 0)
       ), 0) AS size
     FROM task LEFT JOIN snapshot ON snapshot.task = task.key WHERE task.key = ?`,
    key,
  );
  if (!row) return 0;
  const { seq, coveredSeq, firstReferencedSeq, size } = row;
  if (firstReferencedSeq !== null) return firstReferencedSeq - 1;
  if (coveredSeq === seq || size > MAX_FOLDED_SIZE) return coveredSeq;
  writeSnapshot(tables, key, seq, restoreTaskByKey(tables, key).task);
  return seq;
}
