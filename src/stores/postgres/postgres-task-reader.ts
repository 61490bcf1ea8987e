import type {
  QueuedTurnData,
  StoredTask,
  TaskScope,
  TurnRestartData,
  UnfinishedTask,
} from "../../engine/index.ts";
import type { LogEvent, TaskState } from "../../protocol/index.ts";
import type { PushConfigOwnerTask, PushSecretCipher } from "../push-secret-cipher.ts";
import { iterateLoggedEvents } from "../logged-events.ts";
import { decodeIdentifier, encodeIdentifier } from "./encode-identifier.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { restoreStoredTask, toTaskContent } from "./restore-stored-task.ts";
import { computeScopeKey } from "./scope-key.ts";
import { FIND_MESSAGE } from "./statements/find-message.ts";
import type { UnfinishedTaskRow } from "./statements/claim-tasks.ts";
import { LOAD_TASK } from "./statements/load-task.ts";
import { READ_EVENTS } from "./statements/read-events.ts";

/** Columns that identify a scope. */
interface ScopeRow {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
}

export function decodeScopeRow({ tenant, principal, agent }: ScopeRow): TaskScope {
  return {
    tenant: decodeIdentifier(tenant),
    principal: decodeIdentifier(principal),
    agent: decodeIdentifier(agent),
  };
}

export function decodeUnfinishedTaskRow(row: UnfinishedTaskRow): UnfinishedTask {
  return {
    scope: decodeScopeRow(row),
    taskId: decodeIdentifier(row.task_id),
    contextId: decodeIdentifier(row.context_id),
    seq: row.seq,
    state: row.state as TaskState,
    timestamp: row.status_time,
    ...(row.turn === null ? {} : { turn: JSON.parse(row.turn) as TurnRestartData }),
  };
}

/** The id of the reading node, and the cipher for the secrets of webhooks. Both change when the store is opened. */
interface ReadingNode {
  readonly getNode: () => string;
  readonly getCipher: () => PushSecretCipher;
}

/** Reads committed tasks, each with one statement. */
export class PostgresTaskReader {
  readonly #connection: PostgresConnection;
  readonly #reading: ReadingNode;

  constructor(connection: PostgresConnection, reading: ReadingNode) {
    this.#connection = connection;
    this.#reading = reading;
  }

  async load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    const id = encodeIdentifier(taskId);
    const rows = await this.#connection.query(LOAD_TASK, [
      computeScopeKey(scope),
      id,
      this.#reading.getNode(),
    ]);
    const head = rows.find(({ kind }) => kind === "task");
    if (!head) return undefined;
    const queuedTurns = rows
      .filter(({ kind }) => kind === "queued")
      .toSorted((a, b) => a.seq - b.seq)
      .map(({ text }) => this.#decodeQueuedTurn(text as string, { ...scope, taskId }));
    return {
      ...restoreStoredTask(toTaskContent(rows)),
      seq: head.seq,
      epoch: head.epoch ?? 0,
      awaitsRecovery: head.flag ?? false,
      ...(head.text === "other-node" ? { runsOnOtherNode: true } : {}),
      ...(queuedTurns.length > 0 ? { queuedTurns } : {}),
    };
  }

  /** If the secrets of the turn's webhook cannot be decrypted, the webhook keeps their encrypted form. */
  #decodeQueuedTurn(json: string, task: PushConfigOwnerTask): QueuedTurnData {
    const turn = JSON.parse(json) as QueuedTurnData;
    if (!turn.webhook) return turn;
    const { config, secretsError } = this.#reading.getCipher().open(turn.webhook, task);
    return secretsError === undefined ? { ...turn, webhook: config } : turn;
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    const maxBytes = Math.min(limit.maxBytes, Number.MAX_SAFE_INTEGER);
    const rows = await this.#connection.query(READ_EVENTS, [
      computeScopeKey(scope),
      encodeIdentifier(taskId),
      after,
      limit.events,
      maxBytes,
    ]);
    const events: LogEvent[] = [];
    let bytes = 0;
    for (const event of iterateLoggedEvents(rows, after)) {
      // The store has deleted the events after `after`, and keeps only later events.
      if (events.length === 0 && event.seq > after + 1) break;
      events.push(event);
      bytes += Buffer.byteLength(event.jsonText);
      if (events.length >= limit.events || bytes > maxBytes) break;
    }
    return events;
  }

  async findMessage(
    scope: TaskScope,
    messageId: string,
  ): Promise<{ taskId: string; seq: number } | undefined> {
    const parameters = [computeScopeKey(scope), encodeIdentifier(messageId)] as const;
    const [row] = await this.#connection.query(FIND_MESSAGE, parameters);
    return row && { taskId: decodeIdentifier(row.task_id), seq: row.seq };
  }
}
