import { defineStatement, type PostgresStatement } from "../define-statement.ts";

export interface WebhookRow {
  readonly key: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly task_id: string;
  readonly config: string;
  readonly version: string;
  readonly delivered: number;
  readonly failing_since: number | null;
  readonly failed_attempts: number;
  readonly dead_at: number | null;
  readonly dead_reason: string | null;
}

/** Columns of a `WebhookRow`. */
export const WEBHOOK_COLUMNS = `push.key, tenant, principal, agent, task_id, config, version, delivered, failing_since, failed_attempts,
    dead_at, dead_reason`;
/** Webhooks with their tasks. */
export const WEBHOOK_TABLES = "colloquy.push AS push JOIN colloquy.task AS task ON task.key = push.task";

export const GET_WEBHOOK: PostgresStatement<
  readonly [scope: string, taskId: string, id: string],
  WebhookRow
> = defineStatement(
  "colloquy_get_webhook",
  `SELECT ${WEBHOOK_COLUMNS} FROM ${WEBHOOK_TABLES} WHERE task_id = $2 AND task.scope = $1::uuid AND push.id = $3`,
);

/** Lists the webhooks of a task in the order of registration. A task without webhooks has one row of NULL values. */
export const LIST_WEBHOOKS: PostgresStatement<
  readonly [scope: string, taskId: string],
  { readonly [Column in keyof WebhookRow]: WebhookRow[Column] | null }
> = defineStatement(
  "colloquy_list_webhooks",
  `SELECT ${WEBHOOK_COLUMNS} FROM colloquy.task AS task LEFT JOIN colloquy.push AS push ON push.task = task.key
  WHERE task_id = $2 AND task.scope = $1::uuid ORDER BY push.key`,
);

/** Counts the webhooks that wait for a retry after a time, up to 10,000, and finds the first of them. */
export const FIND_WEBHOOK_RETRIES: PostgresStatement<
  readonly [now: number],
  { readonly count: number; readonly next_at: number | null }
> = defineStatement(
  "colloquy_find_webhook_retries",
  `SELECT count(*) AS count, min(due_at) AS next_at FROM (
    SELECT due_at FROM colloquy.push WHERE owing AND due_at > 0 AND due_at > $1::bigint ORDER BY due_at LIMIT 10000
  ) AS waiting`,
);

export const LIST_DEAD_WEBHOOKS: PostgresStatement<readonly [limit: number], WebhookRow> = defineStatement(
  "colloquy_list_dead_webhooks",
  `SELECT ${WEBHOOK_COLUMNS} FROM ${WEBHOOK_TABLES} WHERE push.dead_at IS NOT NULL ORDER BY push.key DESC LIMIT $1`,
);
