import type {
  FollowedPosition,
  FollowedTaskChange,
  NodeHints,
  NodeStore,
  TaskRequest,
  TaskRequestAnswer,
  TaskTurnStatus,
} from "../../engine/index.ts";
import type { JsonObject, LogEvent, TaskPushNotificationConfig } from "../../protocol/index.ts";
import { iterateLoggedEvents } from "../logged-events.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { decodeIdentifier, encodeIdentifier } from "./encode-identifier.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { decodeScopeRow } from "./postgres-task-reader.ts";
import type { PostgresTaskLeases } from "./postgres-task-leases.ts";
import { computeScopeKey } from "./scope-key.ts";
import { ANSWER_TASK_REQUEST } from "./statements/answer-task-request.ts";
import { DELETE_TASK_REQUEST } from "./statements/delete-task-request.ts";
import { INSERT_TASK_REQUEST } from "./statements/insert-task-request.ts";
import { READ_CHANGES, type ChangedTaskRow } from "./statements/read-changes.ts";
import { RETURN_TASK_REQUEST } from "./statements/return-task-request.ts";
import { TAKE_TASK_ANSWERS } from "./statements/take-task-answers.ts";
import { TAKE_TASK_REQUESTS, type TaskRequestRow } from "./statements/take-task-requests.ts";

/** The stored form of a request. The secrets of the webhook are encrypted. */
interface StoredTaskRequest {
  readonly payload: JsonObject;
  readonly webhook?: TaskPushNotificationConfig;
}

/** Logs, requests, and answers that the nodes of one database exchange through its tables. */
export class PostgresNodes implements NodeStore {
  readonly #connection: PostgresConnection;
  readonly #leases: PostgresTaskLeases;
  readonly #getCipher: () => PushSecretCipher;
  readonly hints?: NodeHints;

  constructor(
    connection: PostgresConnection,
    leases: PostgresTaskLeases,
    options: { readonly getCipher: () => PushSecretCipher; readonly hints: NodeHints | undefined },
  ) {
    this.#connection = connection;
    this.#leases = leases;
    this.#getCipher = options.getCipher;
    if (options.hints) this.hints = options.hints;
  }

  get holdsLeases(): boolean {
    return this.#leases.holdsLeases;
  }

  get hasOtherNodes(): boolean {
    return this.#leases.hasOtherNodes;
  }

  async readChanges(
    followed: readonly FollowedPosition[],
    maxBytesPerTask: number,
  ): Promise<(FollowedTaskChange | "deleted" | undefined)[]> {
    const rows = await this.#connection.query(READ_CHANGES, [
      followed.map(({ scope }) => computeScopeKey(scope)),
      followed.map(({ taskId }) => encodeIdentifier(taskId)),
      followed.map(({ afterSeq }) => afterSeq),
      followed.map(({ turnStatus }) => turnStatus),
      maxBytesPerTask,
    ]);
    const rowsByPosition = Map.groupBy(rows, ({ position }) => position);
    return followed.map(({ afterSeq }, at) => {
      const changed = rowsByPosition.get(at + 1);
      return changed && decodeChange(changed, afterSeq);
    });
  }

  async insertRequest(request: TaskRequest, timeoutMs: number): Promise<boolean> {
    const { id, scope, taskId, kind, payload, webhook } = request;
    const sealed = webhook && this.#getCipher().seal(webhook, { ...scope, taskId });
    const stored: StoredTaskRequest = { payload, ...(sealed ? { webhook: sealed } : {}) };
    const parameters = [computeScopeKey(scope), encodeIdentifier(taskId)] as const;
    const rows = await this.#connection.query(INSERT_TASK_REQUEST, [
      id,
      ...parameters,
      kind,
      JSON.stringify(stored),
      timeoutMs,
    ]);
    return rows.length > 0;
  }

  async takeRequests(): Promise<TaskRequest[]> {
    if (!this.holdsLeases) return [];
    const rows = await this.#connection.query(TAKE_TASK_REQUESTS, [this.#leases.node]);
    return rows.map((row) => this.#decodeRequest(row));
  }

  async returnRequest(id: string): Promise<void> {
    await this.#connection.query(RETURN_TASK_REQUEST, [id]);
  }

  async answerRequest({ id, answer }: TaskRequestAnswer): Promise<void> {
    await this.#connection.query(ANSWER_TASK_REQUEST, [id, JSON.stringify(answer)]);
  }

  async takeAnswers(ids: readonly string[]): Promise<TaskRequestAnswer[]> {
    const rows = await this.#connection.query(TAKE_TASK_ANSWERS, [ids]);
    return rows.map(({ id, answer }) => ({ id, answer: JSON.parse(answer) as JsonObject }));
  }

  async deleteRequest(id: string): Promise<void> {
    await this.#connection.query(DELETE_TASK_REQUEST, [id]);
  }

  #decodeRequest(row: TaskRequestRow): TaskRequest {
    const { payload, webhook } = JSON.parse(row.payload) as StoredTaskRequest;
    const scope = decodeScopeRow(row);
    const taskId = decodeIdentifier(row.task_id);
    const opened = webhook && this.#getCipher().open(webhook, { ...scope, taskId }).config;
    return {
      id: row.id,
      scope,
      taskId,
      kind: row.kind as TaskRequest["kind"],
      payload,
      ...(opened ? { webhook: opened } : {}),
    };
  }
}

function decodeChange(rows: readonly ChangedTaskRow[], afterSeq: number): FollowedTaskChange | "deleted" {
  const [{ last_seq: lastSeq, turn_status: turnStatus }] = rows as [ChangedTaskRow];
  if (lastSeq === null) return "deleted";
  const logRows = rows.flatMap(({ seq, lines }) => (seq === null || lines === null ? [] : { seq, lines }));
  const events: LogEvent[] = [...iterateLoggedEvents(logRows, afterSeq)];
  const hasGap = events[0] !== undefined && events[0].seq > afterSeq + 1;
  return { lastSeq, turnStatus: turnStatus as TaskTurnStatus, events: hasGap ? [] : events };
}
