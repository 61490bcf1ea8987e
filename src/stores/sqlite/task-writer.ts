import type { AppendRefusal, LogAppend } from "../../engine/index.ts";
import { isTerminal } from "../../protocol/index.ts";
import { findFirstReferencedSeq, omitReferencedContent } from "../artifact-references.ts";
import { toLogRows } from "../to-log-rows.ts";
import { registerWebhook } from "./push-table.ts";
import { decodeStatus, encodeState, encodeTime, type StatusColumns } from "./status-columns.ts";
import type { TaskTables, WrittenTask } from "./task-tables.ts";

/**
 * Writes an entire append with as few statements as possible, or rejects the append without changes. Call the function
 * only within a transaction.
 */
export function writeAppend(tables: TaskTables, append: LogAppend): AppendRefusal | undefined {
  const { expectedSeq, events, committedAt, snapshot, status, webhooks = [], steps = [], turn } = append;
  const { sql, scopes, counts, checkpoints, maxRowBytes } = tables;
  const scopeKey = scopes.findOrInsertKey(append.scope);
  const known = expectedSeq === 0 ? undefined : findWrittenTask(tables, scopeKey, append.taskId);
  const key = expectedSeq === 0 ? tables.nextKey : known?.key;
  if (key === undefined) return "conflict";
  // Statements that can be rejected run first. A rejection undoes them manually, which is rare and saves a
  // savepoint for every append.
  if (!insertUniqueMessageIds(tables, scopeKey, key, append.messages)) return "duplicate-message";
  const seq = expectedSeq + events.length;
  if (!(known ? updateTask(tables, known, seq, append) : insertTask(tables, scopeKey, seq, append))) {
    deleteMessageIds(tables, scopeKey, append.messages);
    return "conflict";
  }
  counts.moveTask(scopeKey, known?.state, status.state);
  for (const { seq: lastSeq, lines, hasOnlyArtifacts } of toLogRows(events, maxRowBytes)) {
    sql.run(
      "INSERT INTO log (task, seq, lines, has_only_artifacts, committed_at) VALUES (?, ?, ?, ?, ?)",
      key,
      lastSeq,
      lines,
      Number(hasOnlyArtifacts),
      committedAt,
    );
    checkpoints.countRow(lines.length);
  }
  if (snapshot) writeSnapshot(tables, key, seq, snapshot, append.artifactReferences);
  if (turn) sql.run("INSERT OR REPLACE INTO turn (task, json) VALUES (?, ?)", key, JSON.stringify(turn));
  else if (turn === null) {
    sql.run("DELETE FROM turn WHERE task = ?", key);
    sql.run("DELETE FROM finished_step WHERE task = ?", key);
  }
  for (const { turnSeq, key: step, json } of steps)
    sql.run(
      "INSERT OR REPLACE INTO finished_step (task, turn_seq, key, json) VALUES (?, ?, ?, ?)",
      key,
      turnSeq,
      step,
      json,
    );
  writeQueueChange(tables, key, append);
  for (const message of append.messages)
    if (message.wasQueued)
      sql.run(
        "UPDATE message SET seq = ? WHERE scope = ? AND message_id = ?",
        message.seq,
        scopeKey,
        message.messageId,
      );
  for (const webhook of webhooks) {
    const task = { key, seq, state: status.state, scopeKey, ...append.scope, taskId: append.taskId };
    registerWebhook(tables, task, expectedSeq, webhook);
  }
  cacheTask(tables, key, scopeKey, known, append);
  return undefined;
}

/**
 * Stores the snapshot of a task after the event `seq`. Keeps the earlier snapshot if the new one is too large for a row,
 * because the log contains all later events. Call the function only within a transaction.
 */
export function writeSnapshot(
  { sql, maxRowBytes }: TaskTables,
  key: number,
  seq: number,
  task: NonNullable<LogAppend["snapshot"]>,
  references: NonNullable<LogAppend["artifactReferences"]> = [],
): void {
  const json = JSON.stringify(omitReferencedContent(task, references));
  if (maxRowBytes < Infinity && Buffer.byteLength(json) > maxRowBytes) return;
  const firstSeq = findFirstReferencedSeq(references);
  sql.run(
    `INSERT OR REPLACE INTO snapshot (task, seq, json, artifact_references, first_referenced_seq)
     VALUES (?, ?, ?, ?, ?)`,
    key,
    seq,
    json,
    firstSeq === undefined ? null : JSON.stringify(references),
    firstSeq ?? null,
  );
}

function insertTask(tables: TaskTables, scopeKey: number, seq: number, append: LogAppend): boolean {
  const { taskId, contextId, status, hasRunningTurn = false, epoch } = append;
  const { changes } = tables.sql.run(
    `INSERT INTO task (key, scope, task_id, context_id, seq, state, timestamp, running, epoch)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (scope, task_id) DO NOTHING`,
    tables.nextKey,
    scopeKey,
    taskId,
    contextId,
    seq,
    encodeState(status.state),
    encodeTime(status.timestamp),
    Number(hasRunningTurn),
    epoch,
  );
  if (changes === 0) return false;
  tables.nextKey++;
  return true;
}

/** Updates a task without a new status. SQLite rewrites the index entries of all columns that a statement sets. */
function updateTask(
  { sql }: TaskTables,
  { key, state, timestamp }: WrittenTask,
  seq: number,
  { expectedSeq, status, hasRunningTurn, epoch }: LogAppend,
): boolean {
  const place = [key, expectedSeq, epoch] as const;
  if (status.state === state && status.timestamp === timestamp) {
    const { changes } =
      hasRunningTurn === undefined
        ? sql.run("UPDATE task SET seq = ? WHERE key = ? AND seq = ? AND epoch = ?", seq, ...place)
        : sql.run(
            "UPDATE task SET seq = ?, running = ? WHERE key = ? AND seq = ? AND epoch = ?",
            seq,
            Number(hasRunningTurn),
            ...place,
          );
    return changes === 1;
  }
  const { changes } = sql.run(
    `UPDATE task SET seq = ?, state = ?, timestamp = ?, running = coalesce(?, running)
     WHERE key = ? AND seq = ? AND epoch = ?`,
    seq,
    encodeState(status.state),
    encodeTime(status.timestamp),
    hasRunningTurn === undefined ? null : Number(hasRunningTurn),
    ...place,
  );
  return changes === 1;
}

function insertUniqueMessageIds(
  tables: TaskTables,
  scopeKey: number,
  key: number,
  messages: LogAppend["messages"],
): boolean {
  let at = 0;
  for (const { messageId, seq, wasQueued } of messages) {
    if (!wasQueued && insertMessageId(tables, scopeKey, messageId, key, seq) === 0) {
      deleteMessageIds(tables, scopeKey, messages.slice(0, at));
      return false;
    }
    at++;
  }
  return true;
}

function insertMessageId(
  { sql }: TaskTables,
  ...row: readonly [scopeKey: number, messageId: string, task: number, seq: number]
): number | bigint {
  return sql.run(
    `INSERT INTO message (scope, message_id, task, seq) VALUES (?, ?, ?, ?)
     ON CONFLICT (scope, message_id) DO NOTHING`,
    ...row,
  ).changes;
}

function deleteMessageIds({ sql }: TaskTables, scopeKey: number, messages: LogAppend["messages"]): void {
  for (const { messageId, wasQueued } of messages)
    if (!wasQueued) sql.run("DELETE FROM message WHERE scope = ? AND message_id = ?", scopeKey, messageId);
}

function writeQueueChange(
  { sql, cipher }: TaskTables,
  key: number,
  { queueChange, scope, taskId }: LogAppend,
): void {
  for (const queued of queueChange?.added ?? [])
    sql.run(
      "INSERT OR REPLACE INTO queued_turn (task, position, json) VALUES (?, ?, ?)",
      key,
      queued.position,
      cipher.encodeTurn(queued, { ...scope, taskId }),
    );
  if (queueChange?.removedThrough !== undefined)
    sql.run("DELETE FROM queued_turn WHERE task = ? AND position <= ?", key, queueChange.removedThrough);
}

function findWrittenTask(
  { sql, writtenTasks }: TaskTables,
  scopeKey: number,
  taskId: string,
): WrittenTask | undefined {
  const name = `${scopeKey} ${taskId}`;
  const cached = writtenTasks.get(name);
  if (cached) return cached;
  const row = sql.get<StatusColumns & { key: number }>(
    "SELECT key, state, timestamp FROM task WHERE scope = ? AND task_id = ?",
    scopeKey,
    taskId,
  );
  if (!row) return undefined;
  const stored = { key: row.key, ...decodeStatus(row) };
  writtenTasks.set(name, stored);
  return stored;
}

function cacheTask(
  { writtenTasks }: TaskTables,
  key: number,
  scopeKey: number,
  known: WrittenTask | undefined,
  { taskId, status: { state, timestamp } }: LogAppend,
): void {
  if (known?.state === state && known.timestamp === timestamp) return;
  if (!isTerminal(state)) writtenTasks.set(`${scopeKey} ${taskId}`, { key, state, timestamp });
  else if (known) writtenTasks.delete(`${scopeKey} ${taskId}`);
}
