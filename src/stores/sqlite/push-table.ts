import type { SqlDatabase, SqlStatement } from "./sql-database.ts";
import type {
  ClaimedWebhooks,
  DueWebhookQuery,
  TaskScope,
  Webhook,
  WebhookProgress,
  WebhookRegistration,
  WebhookRetries,
} from "../../engine/index.ts";
import { isTerminal } from "../../protocol/index.ts";
import type { PushSecretCipher, PushConfigOwnerTask, SealedPushConfig } from "../push-secret-cipher.ts";
import type { TaskReader, TaskRow } from "./task-reader.ts";

/** The task of a webhook, with the key of its scope. */
interface WebhookTask extends TaskRow, PushConfigOwnerTask {
  readonly scopeKey: number;
}

interface WebhookRow {
  readonly key: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly taskId: string;
  readonly config: string;
  readonly version: string;
  readonly deliveredSeq: number;
  readonly failingSince: number | null;
  readonly failedAttempts: number;
  readonly deadAt: number | null;
  readonly deadReason: string | null;
}

const SELECT_WEBHOOKS = `
  SELECT push.key AS key, tenant, principal, agent, task_id AS taskId, config, version, delivered AS deliveredSeq,
    failing_since AS failingSince, failed_attempts AS failedAttempts, dead_at AS deadAt, dead_reason AS deadReason
  FROM push JOIN task ON task.key = push.task JOIN scope ON scope.key = task.scope`;

/** Reads and writes the webhooks of the tasks in one database. */
export class PushTable {
  readonly #reader: TaskReader;
  readonly #upsertWebhook: SqlStatement;
  readonly #selectById: SqlStatement;
  readonly #selectByTask: SqlStatement;
  readonly #deleteWebhook: SqlStatement;
  readonly #selectDueOfTask: SqlStatement;
  readonly #selectActiveOfTask: SqlStatement;
  readonly #selectDue: SqlStatement;
  readonly #selectUndelivered: SqlStatement;
  readonly #selectRetries: SqlStatement;
  readonly #updateProgress: SqlStatement;
  readonly #selectDead: SqlStatement;
  readonly #countUndelivered: SqlStatement;
  readonly #cipher: PushSecretCipher;

  constructor(db: SqlDatabase, reader: TaskReader, cipher: PushSecretCipher) {
    this.#reader = reader;
    this.#cipher = cipher;
    this.#upsertWebhook = db.prepare(
      `INSERT INTO push (task, id, config, version, delivered, owing, scope)
       VALUES (:task, :id, :config, :version, :after, :after < :seq OR NOT :ended, :scope)
       ON CONFLICT (task, id) DO UPDATE SET config = excluded.config, version = excluded.version,
         owing = delivered < :seq OR NOT :ended, failing_since = NULL, failed_attempts = 0, due_at = 0, dead_at = NULL,
         dead_reason = NULL`,
    );
    this.#selectById = db.prepare(`${SELECT_WEBHOOKS} WHERE push.task = ? AND push.id = ?`);
    this.#selectByTask = db.prepare(`${SELECT_WEBHOOKS} WHERE push.task = ? ORDER BY push.key`);
    this.#deleteWebhook = db.prepare("DELETE FROM push WHERE task = ? AND id = ?");
    const isDueSql = "push.owing = 1 AND push.due_at <= :now AND push.delivered < task.seq";
    this.#selectDueOfTask = db.prepare(
      `${SELECT_WEBHOOKS} WHERE push.task = :task AND ${isDueSql} ORDER BY push.key`,
    );
    this.#selectActiveOfTask = db.prepare(
      "SELECT EXISTS (SELECT 1 FROM push WHERE task = :task AND owing = 1 AND due_at <= :now) AS isActive",
    );
    this.#selectUndelivered = db.prepare(
      `${SELECT_WEBHOOKS} WHERE ${isDueSql} AND push.key > :after ORDER BY push.key LIMIT :limit`,
    );
    this.#selectDue = db.prepare(
      `${SELECT_WEBHOOKS} WHERE ${isDueSql} AND push.due_at > 0 AND push.key > :after ORDER BY push.key LIMIT :limit`,
    );
    this.#selectRetries = db.prepare(
      `SELECT count(*) AS count, min(due_at) AS nextAt FROM (
         SELECT due_at FROM push WHERE owing = 1 AND due_at > 0 AND due_at > ? ORDER BY due_at LIMIT 10000
       )`,
    );
    this.#updateProgress = db.prepare(
      `UPDATE push SET delivered = max(delivered, ?), owing = ?, failing_since = ?, failed_attempts = ?, due_at = ?,
         dead_at = ?, dead_reason = ? WHERE key = ?`,
    );
    this.#countUndelivered = db.prepare(
      `SELECT count(*) AS count FROM (SELECT 1 FROM push WHERE owing = 1 AND scope =
         (SELECT key FROM scope WHERE tenant = ? AND principal = ? AND agent = ?) LIMIT ?)`,
    );
    this.#selectDead = db.prepare(
      `${SELECT_WEBHOOKS} WHERE push.dead_at IS NOT NULL ORDER BY push.key DESC LIMIT ?`,
    );
  }

  put(scope: TaskScope, taskId: string, registration: WebhookRegistration): Webhook | undefined {
    const task = this.#reader.findTask(scope, taskId);
    if (!task) return undefined;
    this.register({ ...task, ...scope, taskId }, task.seq, registration);
    return this.#findWebhook(task, registration.config.id);
  }

  /**
   * Registers a webhook for the events after the sequence number `after`. Call `register` only within a
   * transaction.
   */
  register(task: WebhookTask, after: number, { config, version }: WebhookRegistration): void {
    this.#upsertWebhook.run({
      task: task.key,
      id: config.id,
      config: JSON.stringify(this.#cipher.seal(config, task)),
      version,
      after,
      seq: task.seq,
      ended: isTerminal(task.state) ? 1 : 0,
      scope: task.scopeKey,
    });
  }

  get(scope: TaskScope, taskId: string, id: string): Webhook | undefined {
    const task = this.#reader.findTask(scope, taskId);
    return task && this.#findWebhook(task, id);
  }

  list(scope: TaskScope, taskId: string): Webhook[] | undefined {
    const task = this.#reader.findTask(scope, taskId);
    return task && this.#decodeRows(this.#selectByTask.all(task.key));
  }

  remove(scope: TaskScope, taskId: string, id: string): boolean {
    const task = this.#reader.findTask(scope, taskId);
    if (task) this.#deleteWebhook.run(task.key, id);
    return task !== undefined;
  }

  claim(scope: TaskScope, taskId: string, now: number): ClaimedWebhooks {
    const task = this.#reader.findTask(scope, taskId);
    if (!task) return { webhooks: [], mayNeedMore: false };
    const parameters = { task: task.key, now };
    if (this.#selectActiveOfTask.get(parameters)?.["isActive"] !== 1)
      return { webhooks: [], mayNeedMore: false };
    return { webhooks: this.#decodeRows(this.#selectDueOfTask.all(parameters)), mayNeedMore: true };
  }

  claimDue({ search, after, limit, now }: DueWebhookQuery): Webhook[] {
    const statement = search === "due" ? this.#selectDue : this.#selectUndelivered;
    return this.#decodeRows(statement.all({ after, limit, now }));
  }

  findRetries(now: number): WebhookRetries {
    const { count, nextAt } = this.#selectRetries.get(now) as { count: number; nextAt: number | null };
    return { count, ...(nextAt === null ? {} : { nextAt }) };
  }

  saveProgress(progress: readonly WebhookProgress[]): void {
    for (const { key, isFinished, deadLetter, ...one } of progress) {
      const isOwing = isFinished || deadLetter ? 0 : 1;
      this.#updateProgress.run(
        one.deliveredSeq,
        isOwing,
        one.failingSince ?? null,
        one.failedAttempts ?? 0,
        Math.ceil(one.dueAt ?? 0),
        deadLetter?.at ?? null,
        deadLetter?.reason ?? null,
        key,
      );
    }
  }

  listDeadWebhooks(limit: number): Webhook[] {
    return this.#decodeRows(this.#selectDead.all(limit));
  }

  #findWebhook({ key }: TaskRow, id: string): Webhook | undefined {
    return this.#decodeRows(this.#selectById.all(key, id))[0];
  }

  /** Returns the number of webhooks of the scope that may need deliveries, up to `limit`. */
  countUndelivered({ tenant, principal, agent }: TaskScope, limit: number): number {
    return this.#countUndelivered.get(tenant, principal, agent, limit)?.["count"] as number;
  }

  #decodeRows(rows: unknown[]): Webhook[] {
    return (rows as WebhookRow[]).map(
      ({ tenant, principal, agent, config, failingSince, failedAttempts, deadAt, deadReason, ...row }) => ({
        ...row,
        scope: { tenant, principal, agent },
        ...this.#cipher.open(JSON.parse(config) as SealedPushConfig<Webhook["config"]>, {
          tenant,
          principal,
          ...row,
        }),
        ...(failingSince === null ? {} : { failingSince }),
        ...(failedAttempts === 0 ? {} : { failedAttempts }),
        ...(deadAt === null ? {} : { deadLetter: { at: deadAt, reason: deadReason ?? "" } }),
      }),
    );
  }
}
