import { defineStatement, type PostgresStatement } from "../define-statement.ts";
import { renderRowsSql } from "../row-columns.ts";

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
