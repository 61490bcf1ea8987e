import type { WebhookRow } from "../../stored-rows.ts";
import { type PostgresStatement, defineStatement } from "../define-statement.ts";
import { renderRowsSql } from "../row-columns.ts";

/** Columns of a `WebhookRow`. */
const WEBHOOK_COLUMNS = `push.key, tenant, principal, agent, task_id AS "taskId", config, version, delivered AS "deliveredSeq",
    failing_since AS "failingSince", failed_attempts AS "failedAttempts", dead_at AS "deadAt", dead_reason AS "deadReason"`;
/** Webhooks with their tasks. */
const WEBHOOK_TABLES = "colloquy.push AS push JOIN colloquy.task AS task ON task.key = push.task";

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
  { readonly count: number; readonly nextAt: number | null }
> = defineStatement(
  "colloquy_find_webhook_retries",
  `SELECT count(*) AS count, min(due_at) AS "nextAt" FROM (
    SELECT due_at FROM colloquy.push WHERE owing AND due_at > 0 AND due_at > $1::bigint ORDER BY due_at LIMIT 10000
  ) AS waiting`,
);

export const LIST_DEAD_WEBHOOKS: PostgresStatement<readonly [limit: number], WebhookRow> = defineStatement(
  "colloquy_list_dead_webhooks",
  `SELECT ${WEBHOOK_COLUMNS} FROM ${WEBHOOK_TABLES} WHERE push.dead_at IS NOT NULL ORDER BY push.key DESC LIMIT $1`,
);

/** True for a row of `push` whose lease no other living node holds. Parameter 1 is the claiming node. */
const IS_CLAIMABLE_SQL = `(push.lease_node IS NULL OR push.lease_node = $1::uuid OR NOT EXISTS (
        SELECT 1 FROM colloquy.node AS holder WHERE holder.id = push.lease_node
      ))`;

/** True for a row of `task` unless another living node runs its turn. A suspended, waiting, or lost turn has no such node. */
const IS_FREE_OF_TURNS_SQL = `(NOT task.running OR task.lease_node IS NULL OR task.lease_node = $1::uuid OR NOT EXISTS (
        SELECT 1 FROM colloquy.node AS runner WHERE runner.id = task.lease_node
      ))`;

/**
 * Claims the rows of `claimable`, which are rows of a snapshot without locks. If another node claims a row at the same
 * time, the row has another `lease_node` afterwards, and is not claimed twice.
 */
const renderClaimSql = (lock: "FOR UPDATE OF push" | "FOR UPDATE OF push SKIP LOCKED"): string => `locked AS (
    SELECT push.key FROM colloquy.push AS push JOIN claimable ON claimable.key = push.key
    WHERE push.lease_node IS NOT DISTINCT FROM claimable.lease_node
    ORDER BY push.key ${lock}
  ),
  claimed AS (
    UPDATE colloquy.push AS push SET lease_node = $1::uuid FROM locked WHERE push.key = locked.key RETURNING push.*
  )
  SELECT ${WEBHOOK_COLUMNS} FROM claimed AS push JOIN colloquy.task AS task ON task.key = push.task ORDER BY push.key`;

/** True for a row of `push` with undelivered events whose next attempt is due. */
const renderDueSql = (now: string): string =>
  `push.owing AND push.due_at <= ${now}::bigint AND push.delivered < task.seq`;

/** Claims the due webhooks of a task. */
export const CLAIM_WEBHOOKS: PostgresStatement<
  readonly [node: string, scope: string, taskId: string, now: number],
  WebhookRow
> = defineStatement(
  "colloquy_claim_webhooks",
  `WITH claimable AS MATERIALIZED (
    SELECT push.key, push.lease_node FROM ${WEBHOOK_TABLES}
    WHERE task.task_id = $3 AND task.scope = $2::uuid AND ${renderDueSql("$4")}
      AND ${IS_FREE_OF_TURNS_SQL} AND ${IS_CLAIMABLE_SQL}
  ),
  ${renderClaimSql("FOR UPDATE OF push")}`,
);

/** Counts the webhooks of a task that may need deliveries and do not wait for a retry. */
export const COUNT_ACTIVE_WEBHOOKS: PostgresStatement<
  readonly [scope: string, taskId: string, now: number],
  { readonly count: number }
> = defineStatement(
  "colloquy_count_active_webhooks",
  `SELECT count(*) AS count FROM ${WEBHOOK_TABLES}
  WHERE task.task_id = $2 AND task.scope = $1::uuid AND push.owing AND push.due_at <= $3::bigint`,
);

/** The node, the key after which the claim begins, the maximum number of webhooks, and the time. */
type ClaimDueParameters = readonly [node: string, after: number, limit: number, now: number];

/** Claims due webhooks of all tasks. The statement examines each webhook whose task has not ended. */
export const CLAIM_ALL_WEBHOOKS: PostgresStatement<ClaimDueParameters, WebhookRow> = defineStatement(
  "colloquy_claim_all_webhooks",
  `WITH claimable AS MATERIALIZED (
    SELECT push.key, push.lease_node FROM ${WEBHOOK_TABLES}
    WHERE ${renderDueSql("$4")} AND push.key > $2 AND ${IS_FREE_OF_TURNS_SQL} AND ${IS_CLAIMABLE_SQL}
    ORDER BY push.key LIMIT $3
  ),
  ${renderClaimSql("FOR UPDATE OF push SKIP LOCKED")}`,
);

/**
 * Claims the webhooks whose retry is due, the due webhooks that stopped nodes have left, and the due webhooks of tasks
 * whose turn this node runs. Three indexes contain only the webhooks with a retry, the webhooks with a lease, and the
 * tasks with a running turn.
 */
export const CLAIM_DUE_WEBHOOKS: PostgresStatement<ClaimDueParameters, WebhookRow> = defineStatement(
  "colloquy_claim_due_webhooks",
  `WITH claimable AS MATERIALIZED (
    SELECT key, lease_node FROM (
      SELECT push.key, push.lease_node FROM ${WEBHOOK_TABLES}
      WHERE push.due_at > 0 AND push.lease_node IS NULL AND ${renderDueSql("$4")} AND ${IS_FREE_OF_TURNS_SQL}
      UNION ALL
      SELECT push.key, push.lease_node FROM ${WEBHOOK_TABLES}
      WHERE push.lease_node IS NOT NULL AND push.lease_node <> $1::uuid
        AND ${IS_FREE_OF_TURNS_SQL} AND ${IS_CLAIMABLE_SQL} AND ${renderDueSql("$4")}
      UNION ALL
      SELECT push.key, push.lease_node FROM ${WEBHOOK_TABLES}
      WHERE task.running AND task.lease_node = $1::uuid
        AND push.due_at = 0 AND push.lease_node IS NULL AND ${renderDueSql("$4")}
    ) AS left_webhook
    WHERE key > $2 ORDER BY key LIMIT $3
  ),
  ${renderClaimSql("FOR UPDATE OF push SKIP LOCKED")}`,
);

/** Finds a webhook whose lease the node holds. */
export const FIND_HELD_WEBHOOK: PostgresStatement<
  readonly [node: string, key: number],
  { readonly key: number }
> = defineStatement(
  "colloquy_find_held_webhook",
  "SELECT key FROM colloquy.push WHERE key = $2 AND lease_node = $1::uuid",
);

/**
 * Registers a webhook for the future events of a task, or replaces the webhook with the same id and keeps its position
 * in the log. Returns no row if the task does not exist. A task in one of `terminalStates` has ended. Another node
 * loses its lease, because it has the replaced configuration in memory. If another node runs a turn of the task, the
 * search for due webhooks of that node finds the webhook, because its next attempt is in the past.
 */
export const PUT_WEBHOOK: PostgresStatement<
  readonly [
    scope: string,
    taskId: string,
    id: string,
    config: string,
    version: string,
    terminalStates: readonly string[],
    node: string,
  ],
  { readonly key: number }
> = defineStatement(
  "colloquy_put_webhook",
  `INSERT INTO colloquy.push AS push (scope, task, id, config, version, delivered, owing, due_at)
  SELECT task.scope, task.key, $3, $4, $5, task.seq,
    task.state <> ALL ($6::text[]) OR coalesce(replaced.delivered, task.seq) < task.seq,
    CASE WHEN task.running AND task.lease_node IS DISTINCT FROM $7::uuid THEN 1 ELSE 0 END
  FROM colloquy.task AS task LEFT JOIN colloquy.push AS replaced ON replaced.task = task.key AND replaced.id = $3
  WHERE task.task_id = $2 AND task.scope = $1::uuid
  ON CONFLICT (task, id) DO UPDATE SET config = excluded.config, version = excluded.version, owing = excluded.owing,
    failing_since = NULL, failed_attempts = 0, due_at = excluded.due_at, dead_at = NULL, dead_reason = NULL,
    lease_node = CASE WHEN push.lease_node = $7::uuid THEN push.lease_node END
  RETURNING push.key`,
);

/** Removes a webhook. Returns no row if the task does not exist. */
export const REMOVE_WEBHOOK: PostgresStatement<
  readonly [scope: string, taskId: string, id: string],
  { readonly key: number }
> = defineStatement(
  "colloquy_remove_webhook",
  `WITH owner AS MATERIALIZED (SELECT key FROM colloquy.task WHERE task_id = $2 AND scope = $1::uuid),
  removed AS (DELETE FROM colloquy.push AS push USING owner WHERE push.task = owner.key AND push.id = $3)
  SELECT key FROM owner`,
);

export const WEBHOOK_PROGRESS_COLUMNS = {
  key: "bigint",
  delivered: "bigint",
  owing: "boolean",
  failing_since: "bigint",
  failed_attempts: "bigint",
  due_at: "bigint",
  dead_at: "bigint",
  dead_reason: "text",
  released: "boolean",
} as const;

/**
 * Saves the progress of several webhooks, ends the leases of released webhooks, and ignores removed webhooks and webhooks
 * that another node has claimed. The progress of a webhook never decreases. A webhook without a lease was registered
 * again or released by another node, so that only deliveries count, and no failure.
 */
export const SAVE_WEBHOOK_PROGRESS: PostgresStatement<readonly [node: string, ...arrays: unknown[]], never> =
  defineStatement(
    "colloquy_save_webhook_progress",
    `UPDATE colloquy.push AS push
  SET delivered = greatest(push.delivered, given.delivered), owing = given.owing, failing_since = given.failing_since,
    failed_attempts = given.failed_attempts, due_at = given.due_at, dead_at = given.dead_at, dead_reason = given.dead_reason,
    lease_node = CASE WHEN NOT given.released THEN push.lease_node END
  FROM ${renderRowsSql(WEBHOOK_PROGRESS_COLUMNS, 2)}
  WHERE push.key = given.key AND (push.lease_node = $1::uuid OR (
    push.lease_node IS NULL AND push.owing AND push.delivered <= given.delivered AND given.due_at = 0 AND given.dead_at IS NULL
  ))`,
  );

/** Counts the webhooks of a scope that may need deliveries, up to a limit. */
export const COUNT_UNDELIVERED_WEBHOOKS: PostgresStatement<
  readonly [scope: string, limit: number],
  { readonly count: number }
> = defineStatement(
  "colloquy_count_undelivered_webhooks",
  `SELECT count(*) AS count FROM (
    SELECT 1 FROM colloquy.push WHERE scope = $1::uuid AND owing LIMIT $2
  ) AS counted`,
);
