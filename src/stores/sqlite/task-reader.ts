import type { SqlDatabase, SqlValue, SqlStatement } from "./sql-database.ts";
import type {
  FinishedStep,
  QueuedTurnData,
  StoredTask,
  TurnRestartData,
  TaskScope,
  UnfinishedTask,
} from "../../engine/index.ts";
import type { LogEvent, Task, TaskState } from "../../protocol/index.ts";
import type { PushConfigOwnerTask, PushSecretCipher } from "../push-secret-cipher.ts";
import type { SnapshotTable } from "./snapshot-table.ts";
import { decodeState, decodeTime } from "./status-columns.ts";
import { StepTable } from "./step-table.ts";
import type { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";

/** Key and current state of a stored task. */
export interface TaskRow {
  readonly key: number;
  readonly seq: number;
  readonly state: TaskState;
}

interface TaskRowWithLease extends TaskRow {
  readonly scopeKey: number;
  readonly epoch: number;
  /** 1 while the task has a running turn. */
  readonly running: number;
}

export const SELECT_UNFINISHED_SQL = `
  SELECT tenant, principal, agent, task_id AS taskId, context_id AS contextId, seq, state, timestamp, turn.json AS turn
  FROM task JOIN scope ON scope.key = task.scope LEFT JOIN turn ON turn.task = task.key`;

export function decodeUnfinishedTaskRow(row: Record<string, SqlValue>): UnfinishedTask {
  return {
    scope: {
      tenant: row["tenant"] as string,
      principal: row["principal"] as string,
      agent: row["agent"] as string,
    },
    taskId: row["taskId"] as string,
    contextId: row["contextId"] as string,
    seq: row["seq"] as number,
    state: decodeState(row["state"]),
    timestamp: decodeTime(row["timestamp"]),
    ...(row["turn"] === null ? {} : { turn: JSON.parse(row["turn"] as string) as TurnRestartData }),
  };
}

/** Reads committed tasks. */
export class TaskReader {
  readonly #scopeTable: TaskOwnerScopeTable;
  readonly #pushSecretCipher: PushSecretCipher;
  readonly #selectTask: SqlStatement;
  readonly #snapshotTable: SnapshotTable;
  readonly #stepTable: StepTable;
  readonly #selectMessage: SqlStatement;
  readonly #selectQueuedTurns: SqlStatement;
  readonly #selectFirstQueuedTurn: SqlStatement;
  readonly #selectTasksWithQueuedTurns: SqlStatement;

  constructor(
    db: SqlDatabase,
    scopeTable: TaskOwnerScopeTable,
    snapshotTable: SnapshotTable,
    pushSecretCipher: PushSecretCipher,
  ) {
    this.#pushSecretCipher = pushSecretCipher;
    this.#scopeTable = scopeTable;
    this.#snapshotTable = snapshotTable;
    this.#selectTask = db.prepare(
      "SELECT key, scope AS scopeKey, seq, state, epoch, running FROM task WHERE scope = ? AND task_id = ?",
    );
    this.#stepTable = new StepTable(db);
    this.#selectMessage = db.prepare(
      `SELECT task.task_id AS taskId, message.seq AS seq FROM message JOIN task ON task.key = message.task
       WHERE message.scope = ? AND message.message_id = ?`,
    );
    this.#selectQueuedTurns = db.prepare("SELECT json FROM queued_turn WHERE task = ? ORDER BY position");
    this.#selectFirstQueuedTurn = db.prepare("SELECT 1 FROM queued_turn WHERE task = ? LIMIT 1");
    this.#selectTasksWithQueuedTurns = db.prepare(
      `SELECT tenant, principal, agent, task_id AS taskId
       FROM (SELECT DISTINCT task AS queue FROM queued_turn) JOIN task ON task.key = queue JOIN scope ON scope.key = task.scope`,
    );
  }

  load(scope: TaskScope, taskId: string): StoredTask | undefined {
    const row = this.findTask(scope, taskId);
    if (!row) return undefined;
    const { key, seq, epoch, running } = row;
    const queuedTurns = this.#selectQueuedTurns
      .all(key)
      .map(({ json }) => this.#decodeQueuedTurn(json as string, { ...scope, taskId }));
    const stored = { ...this.#snapshotTable.restoreTask(key), seq, epoch, awaitsRecovery: running === 1 };
    return queuedTurns.length > 0 ? { ...stored, queuedTurns } : stored;
  }

  /** If the secrets of the turn's webhook cannot be decrypted, the webhook keeps their encrypted form. */
  #decodeQueuedTurn(json: string, task: PushConfigOwnerTask): QueuedTurnData {
    const turn = JSON.parse(json) as QueuedTurnData;
    if (!turn.webhook) return turn;
    const { config, secretsError } = this.#pushSecretCipher.open(turn.webhook, task);
    return secretsError === undefined ? { ...turn, webhook: config } : turn;
  }

  isTaskUnchanged(
    scope: TaskScope,
    taskId: string,
    { seq, epoch }: Pick<StoredTask, "seq" | "epoch">,
  ): boolean {
    const row = this.findTask(scope, taskId);
    if (!row || row.seq !== seq || row.epoch !== epoch || row.running === 1) return false;
    return this.#selectFirstQueuedTurn.get(row.key) === undefined;
  }

  readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { events: number; maxBytes: number },
  ): LogEvent[] {
    const row = this.findTask(scope, taskId);
    const events: LogEvent[] = [];
    if (!row || row.seq <= after) return events;
    let bytes = 0;
    for (const event of this.#snapshotTable.iterateEventsAfter(row.key, after)) {
      // The store has deleted the events after `after`, and keeps only later events.
      if (events.length === 0 && event.seq > after + 1) break;
      events.push(event);
      bytes += Buffer.byteLength(event.jsonText);
      if (events.length >= limit.events || bytes > limit.maxBytes) break;
    }
    return events;
  }

  findMessageLocation(scope: TaskScope, messageId: string): { taskId: string; seq: number } | undefined {
    const scopeKey = this.#scopeTable.findKey(scope);
    if (scopeKey === undefined) return undefined;
    const row = this.#selectMessage.get(scopeKey, messageId);
    return row && { taskId: row["taskId"] as string, seq: row["seq"] as number };
  }

  readSteps(scope: TaskScope, taskId: string, turnSeq: number): FinishedStep[] {
    const row = this.findTask(scope, taskId);
    return row ? this.#stepTable.list(row.key, turnSeq) : [];
  }

  listTasksWithQueuedTurns(): { scope: TaskScope; taskId: string }[] {
    return this.#selectTasksWithQueuedTurns.all().map((row) => ({
      scope: {
        tenant: row["tenant"] as string,
        principal: row["principal"] as string,
        agent: row["agent"] as string,
      },
      taskId: row["taskId"] as string,
    }));
  }

  findTask(scope: TaskScope, taskId: string): TaskRowWithLease | undefined {
    const scopeKey = this.#scopeTable.findKey(scope);
    if (scopeKey === undefined) return undefined;
    const row = this.#selectTask.get(scopeKey, taskId);
    return row && ({ ...row, state: decodeState(row["state"]) } as unknown as TaskRowWithLease);
  }

  /** Folds the newest snapshot of a task and all later events into the current task. */
  foldTask({ key }: Pick<TaskRow, "key">): Task {
    return this.#snapshotTable.restoreTask(key).task;
  }
}
