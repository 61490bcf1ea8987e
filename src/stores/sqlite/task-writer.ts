import type { SqlDatabase, SqlStatement } from "./sql-database.ts";
import type { LogAppend, AppendRefusal, TurnQueueChange } from "../../engine/index.ts";
import { LruCache } from "../../base/data-structures/index.ts";
import { isTerminal, type TaskState } from "../../protocol/index.ts";
import type { LargeContentCheckpoints } from "./large-content-checkpoints.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { toLogRows } from "../to-log-rows.ts";
import type { PushTable } from "./push-table.ts";
import type { SnapshotTable } from "./snapshot-table.ts";
import { decodeState, decodeTime, encodeState, encodeTime } from "./status-columns.ts";
import { StepTable } from "./step-table.ts";
import type { TaskCountTable } from "./task-count-table.ts";
import type { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";

interface TaskWriterTables {
  readonly scopeTable: TaskOwnerScopeTable;
  readonly pushTable: PushTable;
  readonly pushSecretCipher: PushSecretCipher;
  readonly snapshotTable: SnapshotTable;
  readonly taskCounts: TaskCountTable;
  readonly checkpoints: LargeContentCheckpoints;
  /** Maximum size of a log row with several events. */
  readonly maxRowBytes: number;
}

/**
 * Writes appends to the database with as few statements as possible. Call the methods of `TaskWriter` only
 * within a transaction.
 */
export class TaskWriter {
  readonly #scopeTable: TaskOwnerScopeTable;
  readonly #pushTable: PushTable;
  readonly #pushSecretCipher: PushSecretCipher;
  readonly #taskCounts: TaskCountTable;
  readonly #snapshotTable: SnapshotTable;
  readonly #checkpoints: LargeContentCheckpoints;
  readonly #maxRowBytes: number;
  /**
   * Keys and states of running tasks by scope and id. They are cached because running tasks soon receive more
   * appends.
   */
  #cachedTasks = createWrittenTaskCache();
  /**
   * Key that the writer assigns to the next new task. The writer assigns task keys so that a message can be
   * written before its task. The process can assign keys safely, because no other process writes to the
   * file.
   */
  #nextKey: number;
  readonly #selectTask: SqlStatement;
  readonly #insertTask: SqlStatement;
  readonly #updateTask: SqlStatement;
  /** Updates a task without a new status. SQLite rewrites the index entries of all columns that a statement sets. */
  readonly #updateSeq: SqlStatement;
  readonly #updateRunning: SqlStatement;
  readonly #insertEvents: SqlStatement;
  readonly #insertMessage: SqlStatement;
  readonly #deleteMessage: SqlStatement;
  readonly #upsertTurn: SqlStatement;
  readonly #deleteTurn: SqlStatement;
  readonly #stepTable: StepTable;
  readonly #updateMessage: SqlStatement;
  readonly #insertQueuedTurn: SqlStatement;
  readonly #deleteQueuedTurns: SqlStatement;

  constructor(db: SqlDatabase, tables: TaskWriterTables) {
    this.#scopeTable = tables.scopeTable;
    this.#pushTable = tables.pushTable;
    this.#pushSecretCipher = tables.pushSecretCipher;
    this.#taskCounts = tables.taskCounts;
    this.#snapshotTable = tables.snapshotTable;
    this.#checkpoints = tables.checkpoints;
    this.#maxRowBytes = tables.maxRowBytes;
    const last = db
      .prepare(
        "SELECT max(coalesce((SELECT max(key) FROM task), 0), coalesce((SELECT max(key) FROM deleted_task), 0)) AS key",
      )
      .get();
    this.#nextKey = (last?.["key"] as number) + 1;
    this.#selectTask = db.prepare("SELECT key, state, timestamp FROM task WHERE scope = ? AND task_id = ?");
    this.#insertTask = db.prepare(
      `INSERT INTO task (key, scope, task_id, context_id, seq, state, timestamp, running, epoch)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (scope, task_id) DO NOTHING`,
    );
    this.#updateTask = db.prepare(
      `UPDATE task SET seq = ?, state = ?, timestamp = ?, running = coalesce(?, running)
       WHERE key = ? AND seq = ? AND epoch = ?`,
    );
    this.#updateSeq = db.prepare("UPDATE task SET seq = ? WHERE key = ? AND seq = ? AND epoch = ?");
    this.#updateRunning = db.prepare(
      "UPDATE task SET seq = ?, running = ? WHERE key = ? AND seq = ? AND epoch = ?",
    );
    this.#insertEvents = db.prepare(
      "INSERT INTO log (task, seq, lines, has_only_artifacts) VALUES (?, ?, ?, ?)",
    );
    this.#insertMessage = db.prepare(
      `INSERT INTO message (scope, message_id, task, seq) VALUES (?, ?, ?, ?)
       ON CONFLICT (scope, message_id) DO NOTHING`,
    );
    this.#deleteMessage = db.prepare("DELETE FROM message WHERE scope = ? AND message_id = ?");
    this.#upsertTurn = db.prepare("INSERT OR REPLACE INTO turn (task, json) VALUES (?, ?)");
    this.#deleteTurn = db.prepare("DELETE FROM turn WHERE task = ?");
    this.#stepTable = new StepTable(db);
    this.#updateMessage = db.prepare("UPDATE message SET seq = ? WHERE scope = ? AND message_id = ?");
    this.#insertQueuedTurn = db.prepare(
      "INSERT OR REPLACE INTO queued_turn (task, position, json) VALUES (?, ?, ?)",
    );
    this.#deleteQueuedTurns = db.prepare("DELETE FROM queued_turn WHERE task = ? AND position <= ?");
  }

  /** Writes an entire append, or rejects the append without changes. */
  append(append: LogAppend): AppendRefusal | undefined {
    const { expectedSeq, events, snapshot, artifactReferences, status, webhooks = [] } = append;
    const { turn, steps, queueChange } = append;
    const scope = this.#scopeTable.findOrInsertKey(append.scope);
    const known = expectedSeq === 0 ? undefined : this.#findTask(scope, append.taskId);
    const key = expectedSeq === 0 ? this.#nextKey : known?.key;
    if (key === undefined) return "conflict";
    // Statements that can be rejected run first. A rejection undoes them manually, which is rare and saves a
    // savepoint for every append.
    if (!this.#insertUniqueMessageIds(scope, key, append.messages)) return "duplicate-message";
    const seq = expectedSeq + events.length;
    if (!(known ? this.#updateTaskRow(known, seq, append) : this.#createTask(key, scope, seq, append))) {
      this.#deleteMessageIds(scope, append.messages);
      return "conflict";
    }
    this.#taskCounts.moveTask(scope, known?.state, status.state);
    for (const { seq: lastSeq, lines, hasOnlyArtifacts } of toLogRows(events, this.#maxRowBytes)) {
      this.#insertEvents.run(key, lastSeq, lines, Number(hasOnlyArtifacts));
      this.#checkpoints.countRow(lines.length);
    }
    if (snapshot) this.#snapshotTable.upsert(key, seq, snapshot, artifactReferences);
    if (turn) this.#upsertTurn.run(key, JSON.stringify(turn));
    else if (turn === null) {
      this.#deleteTurn.run(key);
      this.#stepTable.deleteAll(key);
    }
    if (steps) this.#stepTable.upsert(key, steps);
    if (queueChange) this.#writeQueueChange(key, queueChange, append);
    for (const message of append.messages)
      if (message.wasQueued) this.#updateMessage.run(message.seq, scope, message.messageId);
    for (const webhook of webhooks)
      this.#pushTable.register(
        { key, seq, state: status.state, scopeKey: scope, ...append.scope, taskId: append.taskId },
        expectedSeq,
        webhook,
      );
    this.#cacheTask(key, scope, known, append);
    return undefined;
  }

  /** Removes a deleted task from the cache. */
  forgetTask(scope: number, taskId: string): void {
    this.#cachedTasks.delete(`${scope} ${taskId}`);
  }

  /** Clears the cache. Call `clearCache` after a rollback, because cached states may never have been committed. */
  clearCache(): void {
    this.#cachedTasks = createWrittenTaskCache();
  }

  #createTask(key: number, scope: number, seq: number, append: LogAppend): boolean {
    const { taskId, contextId, status, hasRunningTurn = false, epoch } = append;
    const { changes } = this.#insertTask.run(
      key,
      scope,
      taskId,
      contextId,
      seq,
      encodeState(status.state),
      encodeTime(status.timestamp),
      Number(hasRunningTurn),
      epoch,
    );
    if (changes === 0) return false;
    this.#nextKey++;
    return true;
  }

  #updateTaskRow({ key, state, timestamp }: WrittenTask, seq: number, append: LogAppend): boolean {
    const { expectedSeq, status, hasRunningTurn, epoch } = append;
    const isStatusUnchanged = status.state === state && status.timestamp === timestamp;
    const running = hasRunningTurn === undefined ? null : Number(hasRunningTurn);
    if (isStatusUnchanged) {
      const { changes } =
        running === null
          ? this.#updateSeq.run(seq, key, expectedSeq, epoch)
          : this.#updateRunning.run(seq, running, key, expectedSeq, epoch);
      return changes === 1;
    }
    const { changes } = this.#updateTask.run(
      seq,
      encodeState(status.state),
      encodeTime(status.timestamp),
      running,
      key,
      expectedSeq,
      epoch,
    );
    return changes === 1;
  }

  #insertUniqueMessageIds(scope: number, key: number, messages: LogAppend["messages"]): boolean {
    let at = 0;
    for (const { messageId, seq, wasQueued } of messages) {
      if (!wasQueued && this.#insertMessage.run(scope, messageId, key, seq).changes === 0) {
        this.#deleteMessageIds(scope, messages.slice(0, at));
        return false;
      }
      at++;
    }
    return true;
  }

  #deleteMessageIds(scope: number, messages: LogAppend["messages"]): void {
    for (const { messageId, wasQueued } of messages)
      if (!wasQueued) this.#deleteMessage.run(scope, messageId);
  }

  #writeQueueChange(
    key: number,
    { added, removedThrough }: TurnQueueChange,
    { scope, taskId }: Pick<LogAppend, "scope" | "taskId">,
  ): void {
    for (const { webhook, ...queued } of added) {
      const sealed = webhook && this.#pushSecretCipher.seal(webhook, { ...scope, taskId });
      const json = JSON.stringify(sealed ? { ...queued, webhook: sealed } : queued);
      this.#insertQueuedTurn.run(key, queued.position, json);
    }
    if (removedThrough !== undefined) this.#deleteQueuedTurns.run(key, removedThrough);
  }

  #findTask(scope: number, taskId: string): WrittenTask | undefined {
    const name = `${scope} ${taskId}`;
    const cached = this.#cachedTasks.get(name);
    if (cached) return cached;
    const row = this.#selectTask.get(scope, taskId);
    if (!row) return undefined;
    const stored = {
      key: row["key"] as number,
      state: decodeState(row["state"]),
      timestamp: decodeTime(row["timestamp"]),
    };
    this.#cachedTasks.set(name, stored);
    return stored;
  }

  #cacheTask(
    key: number,
    scope: number,
    known: WrittenTask | undefined,
    { taskId, status: { state, timestamp } }: LogAppend,
  ): void {
    if (known?.state === state && known.timestamp === timestamp) return;
    if (!isTerminal(state)) this.#cachedTasks.set(`${scope} ${taskId}`, { key, state, timestamp });
    else if (known) this.#cachedTasks.delete(`${scope} ${taskId}`);
  }
}

/** A task as the writer has written it. */
interface WrittenTask {
  readonly key: number;
  readonly state: TaskState;
  readonly timestamp: string;
}

function createWrittenTaskCache(): LruCache<WrittenTask> {
  return new LruCache(10_000);
}
