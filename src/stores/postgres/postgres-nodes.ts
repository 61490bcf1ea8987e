import type { TaskTurnStatus } from "../../engine/index.ts";
import type {
  FollowedPosition,
  FollowedTaskChange,
  NodeHints,
  NodeStore,
  TaskRequest,
  TaskRequestAnswer,
} from "../../cluster/index.ts";
import type { JsonObject, LogEvent, TaskPushNotificationConfig } from "../../protocol/index.ts";
import { toScope } from "../task-owner-scope-key.ts";
import { iterateLoggedEvents } from "../logged-events.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import type { PostgresTaskLeases } from "./postgres-task-leases.ts";
import { computeScopeKey } from "./scope-key.ts";
import * as statements from "./statements/nodes.ts";

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

  get leaseMs(): number {
    return this.#leases.leaseMs;
  }

  get hasOtherNodes(): boolean {
    return this.#leases.hasOtherNodes;
  }

  async readChanges(
    followed: readonly FollowedPosition[],
    maxBytesPerTask: number,
  ): Promise<(FollowedTaskChange | "deleted" | undefined)[]> {
    const rows = await this.#connection.query(statements.READ_CHANGES, [
      followed.map(({ scope }) => computeScopeKey(scope)),
      followed.map(({ taskId }) => taskId),
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
    const parameters = [computeScopeKey(scope), taskId] as const;
    const rows = await this.#connection.query(statements.INSERT_TASK_REQUEST, [
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
    const rows = await this.#connection.query(statements.TAKE_TASK_REQUESTS, [this.#leases.node]);
    return rows.map((row) => this.#decodeRequest(row));
  }

  async returnRequest(id: string): Promise<void> {
    await this.#connection.query(statements.RETURN_TASK_REQUEST, [id]);
  }

  async answerRequest({ id, answer }: TaskRequestAnswer): Promise<void> {
    await this.#connection.query(statements.ANSWER_TASK_REQUEST, [id, JSON.stringify(answer)]);
  }

  async takeAnswers(ids: readonly string[]): Promise<TaskRequestAnswer[]> {
    const rows = await this.#connection.query(statements.TAKE_TASK_ANSWERS, [ids]);
    return rows.map(({ id, answer }) => ({ id, answer: JSON.parse(answer) as JsonObject }));
  }

  async deleteRequest(id: string): Promise<void> {
    await this.#connection.query(statements.DELETE_TASK_REQUEST, [id]);
  }

  #decodeRequest(row: statements.TaskRequestRow): TaskRequest {
    const { payload, webhook } = JSON.parse(row.payload) as StoredTaskRequest;
    const { taskId } = row;
    const scope = toScope(row);
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

function decodeChange(
  rows: readonly statements.ChangedTaskRow[],
  afterSeq: number,
): FollowedTaskChange | "deleted" {
  const [{ last_seq: lastSeq, turn_status: turnStatus }] = rows as [statements.ChangedTaskRow];
  if (lastSeq === null) return "deleted";
  const logRows = rows.flatMap(({ seq, lines }) => (seq === null || lines === null ? [] : { seq, lines }));
  const events: LogEvent[] = [...iterateLoggedEvents(logRows, afterSeq)];
  const hasGap = events[0] !== undefined && events[0].seq > afterSeq + 1;
  return { lastSeq, turnStatus: turnStatus as TaskTurnStatus, events: hasGap ? [] : events };
}
