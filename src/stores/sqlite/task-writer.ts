import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LogAppend, AppendRefusal, TurnQueueChange } from "../../engine/index.ts";
import { isTerminal } from "../../protocol/index.ts";
import { createIntegerKeyCache } from "./integer-key-cache.ts";
import type { LargeContentCheckpoints } from "./large-content-checkpoints.ts";
import type { PushTable } from "./push-table.ts";
import type { SnapshotTable } from "./snapshot-table.ts";
import type { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";

/**
 * Writes appends to the database with as few statements as possible. Call the methods of `TaskWriter` only
 * within a transaction.
 */
export class TaskWriter {
  readonly #scopeTable: TaskOwnerScopeTable;
  readonly #pushTable: PushTable;
  readonly #snapshotTable: SnapshotTable;
  readonly #checkpoints: LargeContentCheckpoints;
  /**
   * Keys of running tasks by scope and id. The keys of running tasks are cached because running tasks soon
   * receive more appends.
   */
  readonly #cachedKeys = createIntegerKeyCache();
  /**
   * Key that the writer assigns to the next new task. The writer assigns task keys so that a message can be
   * written before its task. The process can assign keys safely, because no other process writes to the
   * file.
   */
  #nextKey: number;
  readonly #selectTask: StatementSync;
  readonly #insertTask: StatementSync;
  readonly #updateTask: StatementSync;
  readonly #insertEvents: StatementSync;
  readonly #insertMessage: StatementSync;
  readonly #deleteMessage: StatementSync;
  readonly #upsertTurn: StatementSync;
  readonly #deleteTurn: StatementSync;
  readonly #updateMessage: StatementSync;
  readonly #insertQueuedTurn: StatementSync;
  readonly #deleteQueuedTurns: StatementSync;

  constructor(
    db: DatabaseSync,
    scopeTable: TaskOwnerScopeTable,
    pushTable: PushTable,
    snapshotTable: SnapshotTable,
    checkpoints: LargeContentCheckpoints,
  ) {
    this.#scopeTable = scopeTable;
    this.#pushTable = pushTable;
    this.#snapshotTable = snapshotTable;
    this.#checkpoints = checkpoints;
    const last = db
      .prepare(
        "SELECT max(coalesce((SELECT max(key) FROM task), 0), coalesce((SELECT max(key) FROM deleted_task), 0)) AS key",
      )
      .get();
    this.#nextKey = (last?.["key"] as number) + 1;
    this.#selectTask = db.prepare("SELECT key FROM task WHERE scope = ? AND task_id = ?");
    this.#insertTask = db.prepare(
      `INSERT INTO task (key, scope, task_id, context_id, seq, state, timestamp, running, epoch)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (scope, task_id) DO NOTHING`,
    );
    this.#updateTask = db.prepare(
      `UPDATE task SET seq = ?, state = ?, timestamp = ?, running = coalesce(?, running)
       WHERE key = ? AND seq = ? AND epoch = ?`,
    );
    this.#insertEvents = db.prepare("INSERT INTO log (task, seq, lines) VALUES (?, ?, ?)");
    this.#insertMessage = db.prepare(
      `INSERT INTO message (scope, message_id, task, seq) VALUES (?, ?, ?, ?)
       ON CONFLICT (scope, message_id) DO NOTHING`,
    );
    this.#deleteMessage = db.prepare("DELETE FROM message WHERE scope = ? AND message_id = ?");
    this.#upsertTurn = db.prepare("INSERT OR REPLACE INTO turn (task, json) VALUES (?, ?)");
    this.#deleteTurn = db.prepare("DELETE FROM turn WHERE task = ?");
    this.#updateMessage = db.prepare("UPDATE message SET seq = ? WHERE scope = ? AND message_id = ?");
    this.#insertQueuedTurn = db.prepare(
      "INSERT OR REPLACE INTO queued_turn (task, position, json) VALUES (?, ?, ?)",
    );
    this.#deleteQueuedTurns = db.prepare("DELETE FROM queued_turn WHERE task = ? AND position <= ?");
  }

  /** Writes an entire append, or rejects the append without changes. */
  append(append: LogAppend): AppendRefusal | undefined {
    const { expectedSeq, events, snapshot, artifactReferences, status, webhooks = [] } = append;
    const { turn, queueChange } = append;
    const scope = this.#scopeTable.findOrInsertKey(append.scope);
    const key = expectedSeq === 0 ? this.#nextKey : this.#findTaskKey(scope, append.taskId);
    if (key === undefined) return "conflict";
    // Statements that can be rejected run first. A rejection undoes them manually, which is rare and saves a
    // savepoint for every append.
    if (!this.#insertUniqueMessageIds(scope, key, append.messages)) return "duplicate-message";
    const seq = expectedSeq + events.length;
    if (
      !(expectedSeq === 0 ? this.#createTask(key, scope, seq, append) : this.#updateTaskRow(key, seq, append))
    ) {
      this.#deleteMessageIds(scope, append.messages);
      return "conflict";
    }
    if (events.length > 0) {
      const lines = events.map(({ jsonText: json }) => json).join("\n");
      this.#insertEvents.run(key, seq, lines);
      this.#checkpoints.countRow(lines.length);
    }
    if (snapshot) this.#snapshotTable.upsert(key, seq, snapshot, artifactReferences);
    if (turn) this.#upsertTurn.run(key, JSON.stringify(turn));
    else if (turn === null) this.#deleteTurn.run(key);
    if (queueChange) this.#writeQueueChange(key, queueChange);
    for (const message of append.messages)
      if (message.wasQueued) this.#updateMessage.run(message.seq, scope, message.messageId);
    for (const webhook of webhooks)
      this.#pushTable.register({ key, seq, state: status.state }, expectedSeq, webhook);
    this.#cacheTaskKey(key, scope, append);
    return undefined;
  }

  /** Removes a deleted task from the cache of task keys. */
  forgetTask(scope: number, taskId: string): void {
    this.#cachedKeys.delete(`${scope} ${taskId}`);
  }

  #createTask(key: number, scope: number, seq: number, append: LogAppend): boolean {
    const { taskId, contextId, status, hasRunningTurn = false, epoch } = append;
    const { changes } = this.#insertTask.run(
      key,
      scope,
      taskId,
      contextId,
      seq,
      status.state,
      status.timestamp,
      Number(hasRunningTurn),
      epoch,
    );
    if (changes === 0) return false;
    this.#nextKey++;
    return true;
  }

  #updateTaskRow(key: number, seq: number, append: LogAppend): boolean {
    const { expectedSeq, status, hasRunningTurn, epoch } = append;
    const running = hasRunningTurn === undefined ? null : Number(hasRunningTurn);
    const { changes } = this.#updateTask.run(
      seq,
      status.state,
      status.timestamp,
      running,
      key,
      expectedSeq,
      epoch,
    );
    return changes === 1;
  }

  #insertUniqueMessageIds(scope: number, key: number, messages: LogAppend["messages"]): boolean {
    for (const [at, { messageId, seq, wasQueued }] of messages.entries()) {
      if (wasQueued) continue;
      if (this.#insertMessage.run(scope, messageId, key, seq).changes === 0) {
        this.#deleteMessageIds(scope, messages.slice(0, at));
        return false;
      }
    }
    return true;
  }

  #deleteMessageIds(scope: number, messages: LogAppend["messages"]): void {
    for (const { messageId, wasQueued } of messages)
      if (!wasQueued) this.#deleteMessage.run(scope, messageId);
  }

  #writeQueueChange(key: number, { added, removedThrough }: TurnQueueChange): void {
    for (const queued of added) this.#insertQueuedTurn.run(key, queued.position, JSON.stringify(queued));
    if (removedThrough !== undefined) this.#deleteQueuedTurns.run(key, removedThrough);
  }

  #findTaskKey(scope: number, taskId: string): number | undefined {
    return (
      this.#cachedKeys.get(`${scope} ${taskId}`) ??
      (this.#selectTask.get(scope, taskId)?.["key"] as number | undefined)
    );
  }

  #cacheTaskKey(key: number, scope: number, { taskId, status }: LogAppend): void {
    const name = `${scope} ${taskId}`;
    if (isTerminal(status.state)) this.#cachedKeys.delete(name);
    else this.#cachedKeys.set(name, key);
  }
}
