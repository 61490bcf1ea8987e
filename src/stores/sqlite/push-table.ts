import type { TaskScope, WebhookRegistration } from "../../engine/index.ts";
import type { PushStore, Webhook } from "../../webhooks/index.ts";
import { isTerminal } from "../../protocol/index.ts";
import type { PushConfigOwnerTask } from "../push-secret-cipher.ts";
import { decodeWebhook, type WebhookRow } from "../stored-rows.ts";
import { findTask, type TaskRow } from "./task-reader.ts";
import type { SqlAccess, TaskTables } from "./task-tables.ts";

const SELECT_WEBHOOKS = `
  SELECT push.key AS key, tenant, principal, agent, task_id AS taskId, config, version, delivered AS deliveredSeq,
    failing_since AS failingSince, failed_attempts AS failedAttempts, dead_at AS deadAt, dead_reason AS deadReason
  FROM push JOIN task ON task.key = push.task JOIN scope ON scope.key = task.scope`;
const SELECT_DUE_WEBHOOKS = `${SELECT_WEBHOOKS} WHERE push.owing = 1 AND push.due_at <= :now AND push.delivered < task.seq`;
const SELECT_WEBHOOK = `${SELECT_WEBHOOKS} WHERE push.task = ? AND push.id = ?`;
const SELECT_WEBHOOKS_OF_TASK = `${SELECT_WEBHOOKS} WHERE push.task = ? ORDER BY push.key`;
const SELECT_DUE_OF_TASK = `${SELECT_DUE_WEBHOOKS} AND push.task = :task ORDER BY push.key`;
const SELECT_UNDELIVERED = `${SELECT_DUE_WEBHOOKS} AND push.key > :after ORDER BY push.key LIMIT :limit`;
const SELECT_RETRIES = `${SELECT_DUE_WEBHOOKS} AND push.due_at > 0 AND push.key > :after ORDER BY push.key LIMIT :limit`;
const SELECT_DEAD = `${SELECT_WEBHOOKS} WHERE push.dead_at IS NOT NULL ORDER BY push.key DESC LIMIT ?`;

/**
 * Registers a webhook for the events after the sequence number `after`. Call the function only within a transaction.
 */
export function registerWebhook(
  tables: TaskTables,
  task: Pick<TaskRow, "key" | "scopeKey" | "seq" | "state"> & PushConfigOwnerTask,
  after: number,
  { config, version }: WebhookRegistration,
): void {
  tables.sql.run(
    `INSERT INTO push (task, id, config, version, delivered, owing, scope)
     VALUES (:task, :id, :config, :version, :after, :after < :seq OR NOT :ended, :scope)
     ON CONFLICT (task, id) DO UPDATE SET config = excluded.config, version = excluded.version,
       owing = delivered < :seq OR NOT :ended, failing_since = NULL, failed_attempts = 0, due_at = 0, dead_at = NULL,
       dead_reason = NULL`,
    {
      task: task.key,
      id: config.id,
      config: JSON.stringify(tables.cipher.seal(config, task)),
      version,
      after,
      seq: task.seq,
      ended: isTerminal(task.state) ? 1 : 0,
      scope: task.scopeKey,
    },
  );
}

function decodeWebhooks({ cipher }: TaskTables, rows: readonly WebhookRow[]): Webhook[] {
  return rows.map((row) => decodeWebhook(row, cipher));
}

function findWebhook(tables: TaskTables, { key }: TaskRow, id: string): Webhook | undefined {
  return decodeWebhooks(tables, tables.sql.all<WebhookRow>(SELECT_WEBHOOK, key, id))[0];
}

/** Creates the store of the webhooks in one database. */
export function createSqlPushStore({ read, writePush }: SqlAccess): PushStore {
  /** Calls `query` with a task. Resolves with `undefined` if the task does not exist. */
  const readOfTask = <T>(
    scope: TaskScope,
    taskId: string,
    query: (tables: TaskTables, task: TaskRow) => T,
  ): Promise<T | undefined> =>
    read((tables) => {
      const task = findTask(tables, scope, taskId);
      return task && query(tables, task);
    });
  return {
    put: (scope, taskId, registration) =>
      writePush((tables) => {
        const task = findTask(tables, scope, taskId);
        if (!task) return undefined;
        registerWebhook(tables, { ...task, ...scope, taskId }, task.seq, registration);
        return findWebhook(tables, task, registration.config.id);
      }),
    get: (scope, taskId, id) => readOfTask(scope, taskId, (tables, task) => findWebhook(tables, task, id)),
    list: (scope, taskId) =>
      readOfTask(scope, taskId, (tables, { key }) =>
        decodeWebhooks(tables, tables.sql.all<WebhookRow>(SELECT_WEBHOOKS_OF_TASK, key)),
      ),
    remove: (scope, taskId, id) =>
      writePush((tables) => {
        const task = findTask(tables, scope, taskId);
        if (task) tables.sql.run("DELETE FROM push WHERE task = ? AND id = ?", task.key, id);
        return task !== undefined;
      }),
    claim: async (scope, taskId, now) => {
      const claimed = await readOfTask(scope, taskId, (tables, { key: task }) => {
        const isActive = tables.sql.get(
          "SELECT 1 FROM push WHERE task = :task AND owing = 1 AND due_at <= :now LIMIT 1",
          { task, now },
        );
        if (!isActive) return undefined;
        return decodeWebhooks(tables, tables.sql.all<WebhookRow>(SELECT_DUE_OF_TASK, { task, now }));
      });
      return { webhooks: claimed ?? [], mayNeedMore: claimed !== undefined };
    },
    claimDue: ({ search, ...parameters }) =>
      read((tables) => {
        const sql = search === "due" ? SELECT_RETRIES : SELECT_UNDELIVERED;
        return decodeWebhooks(tables, tables.sql.all<WebhookRow>(sql, parameters));
      }),
    findRetries: (now) =>
      read(({ sql }) => {
        const found = sql.get<{ count: number; nextAt: number | null }>(
          `SELECT count(*) AS count, min(due_at) AS nextAt FROM (
             SELECT due_at FROM push WHERE owing = 1 AND due_at > 0 AND due_at > ? ORDER BY due_at LIMIT 10000
           )`,
          now,
        );
        const { count = 0, nextAt = null } = found ?? {};
        return { count, ...(nextAt === null ? {} : { nextAt }) };
      }),
    saveProgress: (progress) =>
      writePush(({ sql }) => {
        for (const { key, isFinished, deadLetter, ...one } of progress)
          sql.run(
            `UPDATE push SET delivered = max(delivered, ?), owing = ?, failing_since = ?, failed_attempts = ?, due_at = ?,
               dead_at = ?, dead_reason = ? WHERE key = ?`,
            one.deliveredSeq,
            isFinished || deadLetter ? 0 : 1,
            one.failingSince ?? null,
            one.failedAttempts ?? 0,
            Math.ceil(one.dueAt ?? 0),
            deadLetter?.at ?? null,
            deadLetter?.reason ?? null,
            key,
          );
      }),
    countUndelivered: ({ tenant, principal, agent }, limit) =>
      read(({ sql }) => {
        const row = sql.get<{ count: number }>(
          `SELECT count(*) AS count FROM (SELECT 1 FROM push WHERE owing = 1 AND scope =
             (SELECT key FROM scope WHERE tenant = ? AND principal = ? AND agent = ?) LIMIT ?)`,
          tenant,
          principal,
          agent,
          limit,
        );
        return row?.count ?? 0;
      }),
    listDeadWebhooks: (limit) =>
      read((tables) => decodeWebhooks(tables, tables.sql.all<WebhookRow>(SELECT_DEAD, limit))),
  };
}
