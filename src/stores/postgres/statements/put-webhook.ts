import { defineStatement, type PostgresStatement } from "../define-statement.ts";

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
