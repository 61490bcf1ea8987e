import { defineStatement, type PostgresStatement } from "../define-statement.ts";
import { WEBHOOK_COLUMNS, WEBHOOK_TABLES, type WebhookRow } from "./select-webhooks.ts";

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
