import type { QueuedTurnData, StoredTask, TaskScope } from "../../engine/index.ts";
import type { LogEvent, TaskState } from "../../protocol/index.ts";
import { type EventPageLimit, iterateLoggedEvents, takeEventPage, type LogLines } from "../logged-events.ts";
import { restoreTask, type RestoredTask, type SnapshotRow } from "../restore-task.ts";
import { decodeState } from "./status-columns.ts";
import type { TaskTables } from "./task-tables.ts";

/** Keys and current state of a stored task. */
export interface TaskRow {
  readonly key: number;
  readonly scopeKey: number;
  readonly seq: number;
  readonly state: TaskState;
  readonly epoch: number;
  /** 1 while the task has a running turn. */
  readonly running: number;
}

export function findTask({ sql, scopes }: TaskTables, scope: TaskScope, taskId: string): TaskRow | undefined {
  const scopeKey = scopes.findKey(scope);
  if (scopeKey === undefined) return undefined;
  const row = sql.get<Omit<TaskRow, "state"> & { state: number }>(
    "SELECT key, scope AS scopeKey, seq, state, epoch, running FROM task WHERE scope = ? AND task_id = ?",
    scopeKey,
    taskId,
  );
  return row && { ...row, state: decodeState(row.state) };
}

export function loadTask(tables: TaskTables, scope: TaskScope, taskId: string): StoredTask | undefined {
  const row = findTask(tables, scope, taskId);
  if (!row) return undefined;
  const { key, seq, epoch, running } = row;
  const queuedTurns = tables.sql
    .all<{ json: string }>("SELECT json FROM queued_turn WHERE task = ? ORDER BY position", key)
    .map(({ json }): QueuedTurnData => tables.cipher.decodeTurn(json, { ...scope, taskId }));
  const stored = { ...restoreTaskByKey(tables, key), seq, epoch, awaitsRecovery: running === 1 };
  return queuedTurns.length > 0 ? { ...stored, queuedTurns } : stored;
}

/** Restores the current task from its newest snapshot and from its log. */
export function restoreTaskByKey({ sql }: TaskTables, key: number): RestoredTask {
  const snapshot = sql.get<SnapshotRow>(
    "SELECT seq, json, artifact_references AS artifactReferences FROM snapshot WHERE task = ?",
    key,
  );
  return restoreTask(snapshot, (after) => iterateLogRows({ sql }, key, after));
}

function iterateLogRows({ sql }: Pick<TaskTables, "sql">, key: number, after: number): Iterable<LogLines> {
  return sql.iterate<LogLines>(
    "SELECT seq, lines, committed_at AS committedAt FROM log WHERE task = ? AND seq > ? ORDER BY seq",
    key,
    after,
  );
}

export function readEvents(
  tables: TaskTables,
  scope: TaskScope,
  taskId: string,
  after: number,
  limit: EventPageLimit,
): LogEvent[] {
  const task = findTask(tables, scope, taskId);
  if (!task || task.seq <= after) return [];
  return takeEventPage(iterateLoggedEvents(iterateLogRows(tables, task.key, after), after), after, limit);
}

/** Finds the task of a message, and the sequence number of the message. */
export function findMessage(
  { sql, scopes }: TaskTables,
  scope: TaskScope,
  messageId: string,
): { taskId: string; seq: number } | undefined {
  const scopeKey = scopes.findKey(scope);
  if (scopeKey === undefined) return undefined;
  const row = sql.get<{ taskId: string; seq: number }>(
    `SELECT task.task_id AS taskId, message.seq AS seq FROM message JOIN task ON task.key = message.task
     WHERE message.scope = ? AND message.message_id = ?`,
    scopeKey,
    messageId,
  );
  return row && { ...row };
}
