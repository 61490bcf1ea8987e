import type { TaskScope, WebhookRegistration } from "../../engine/index.ts";
import type {
  ClaimedWebhooks,
  DueWebhookQuery,
  PushStore,
  Webhook,
  WebhookProgress,
  WebhookRetries,
} from "../../webhooks/index.ts";
import { isTerminal } from "../../protocol/index.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { decodeWebhook, type WebhookRow } from "../stored-rows.ts";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { getTaskKey } from "../task-owner-scope-key.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { encodeRows } from "./row-columns.ts";
import { computeScopeKey } from "./scope-key.ts";
import * as statements from "./statements/webhooks.ts";

/** Interval in milliseconds at which a node looks for webhooks that other nodes have left. */
const POLL_INTERVAL_MS = 1000;
const TERMINAL_STATES = STORED_TASK_STATES.filter(isTerminal);

interface PostgresPushStoreDependencies {
  /** Returns the id of this node. */
  readonly getNode: () => string;
  readonly getCipher: () => PushSecretCipher;
}

/** Stores webhooks. The changes of one task's webhooks run in the order of the calls. */
export class PostgresPushStore implements PushStore {
  readonly pollIntervalMs: number = POLL_INTERVAL_MS;
  readonly #connection: PostgresConnection;
  readonly #context: PostgresPushStoreDependencies;
  /** The last change of each task whose changes are in progress. */
  readonly #lastChanges = new Map<string, Promise<unknown>>();

  constructor(connection: PostgresConnection, context: PostgresPushStoreDependencies) {
    this.#connection = connection;
    this.#context = context;
  }

  put(scope: TaskScope, taskId: string, registration: WebhookRegistration): Promise<Webhook | undefined> {
    const { config, version } = registration;
    return this.#changeInOrder(scope, taskId, async () => {
      const rows = await this.#connection.query(statements.PUT_WEBHOOK, [
        computeScopeKey(scope),
        taskId,
        config.id,
        JSON.stringify(this.#context.getCipher().seal(config, { ...scope, taskId })),
        version,
        TERMINAL_STATES,
        this.#context.getNode(),
      ]);
      return rows.length > 0 ? await this.get(scope, taskId, config.id) : undefined;
    });
  }

  async get(scope: TaskScope, taskId: string, id: string): Promise<Webhook | undefined> {
    const parameters = [computeScopeKey(scope), taskId, id] as const;
    const [row] = await this.#connection.query(statements.GET_WEBHOOK, parameters);
    return row && this.#decodeRow(row);
  }

  async list(scope: TaskScope, taskId: string): Promise<Webhook[] | undefined> {
    const parameters = [computeScopeKey(scope), taskId] as const;
    const rows = await this.#connection.query(statements.LIST_WEBHOOKS, parameters);
    if (rows.length === 0) return undefined;
    return rows.filter((row) => row.key !== null).map((row) => this.#decodeRow(row as WebhookRow));
  }

  remove(scope: TaskScope, taskId: string, id: string): Promise<boolean> {
    const parameters = [computeScopeKey(scope), taskId, id] as const;
    return this.#changeInOrder(
      scope,
      taskId,
      async () => (await this.#connection.query(statements.REMOVE_WEBHOOK, parameters)).length > 0,
    );
  }

  async claim(scope: TaskScope, taskId: string, now: number): Promise<ClaimedWebhooks> {
    const parameters = [computeScopeKey(scope), taskId, Math.floor(now)] as const;
    const rows = await this.#connection.query(statements.CLAIM_WEBHOOKS, [
      this.#context.getNode(),
      ...parameters,
    ]);
    if (rows.length > 0) return { webhooks: rows.map((row) => this.#decodeRow(row)), mayNeedMore: true };
    const [active] = await this.#connection.query(statements.COUNT_ACTIVE_WEBHOOKS, parameters);
    return { webhooks: [], mayNeedMore: (active?.count ?? 0) > 0 };
  }

  async claimDue({ search, after, limit, now }: DueWebhookQuery): Promise<Webhook[]> {
    const statement = search === "all" ? statements.CLAIM_ALL_WEBHOOKS : statements.CLAIM_DUE_WEBHOOKS;
    const rows = await this.#connection.query(statement, [
      this.#context.getNode(),
      after,
      limit,
      Math.floor(now),
    ]);
    return rows.map((row) => this.#decodeRow(row));
  }

  async findRetries(now: number): Promise<WebhookRetries> {
    const [row] = await this.#connection.query(statements.FIND_WEBHOOK_RETRIES, [Math.floor(now)]);
    const nextAt = row?.nextAt ?? undefined;
    return { count: row?.count ?? 0, ...(nextAt === undefined ? {} : { nextAt }) };
  }

  async isHeld(key: number): Promise<boolean> {
    return (
      (await this.#connection.query(statements.FIND_HELD_WEBHOOK, [this.#context.getNode(), key])).length > 0
    );
  }

  async saveProgress(progress: readonly WebhookProgress[]): Promise<void> {
    const rows = progress.map(({ key, deliveredSeq, isFinished, deadLetter, ...one }) => ({
      key,
      delivered: deliveredSeq,
      owing: !isFinished && !deadLetter,
      failing_since: one.failingSince ?? null,
      failed_attempts: one.failedAttempts ?? 0,
      due_at: Math.ceil(one.dueAt ?? 0),
      dead_at: deadLetter?.at ?? null,
      dead_reason: deadLetter?.reason ?? null,
      released: one.isReleased ?? false,
    }));
    await this.#connection.query(statements.SAVE_WEBHOOK_PROGRESS, [
      this.#context.getNode(),
      ...encodeRows(statements.WEBHOOK_PROGRESS_COLUMNS, rows),
    ]);
  }

  async listDeadWebhooks(limit: number): Promise<Webhook[]> {
    return (await this.#connection.query(statements.LIST_DEAD_WEBHOOKS, [limit])).map((row) =>
      this.#decodeRow(row),
    );
  }

  assertCanStoreSecrets(): void {
    this.#context.getCipher().assertCanEncrypt();
  }

  async #changeInOrder<T>(scope: TaskScope, taskId: string, change: () => Promise<T>): Promise<T> {
    const key = getTaskKey(scope, taskId);
    const result = (this.#lastChanges.get(key) ?? Promise.resolve()).then(change, change);
    this.#lastChanges.set(key, result);
    try {
      return await result;
    } finally {
      if (this.#lastChanges.get(key) === result) this.#lastChanges.delete(key);
    }
  }

  async countUndelivered(scope: TaskScope, limit: number): Promise<number> {
    const parameters = [computeScopeKey(scope), limit] as const;
    const [row] = await this.#connection.query(statements.COUNT_UNDELIVERED_WEBHOOKS, parameters);
    return row?.count ?? 0;
  }

  #decodeRow(row: WebhookRow): Webhook {
    return decodeWebhook(row, this.#context.getCipher());
  }
}
