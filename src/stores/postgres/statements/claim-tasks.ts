import { defineStatement, type PostgresStatement } from "../define-statement.ts";
import type { UnfinishedTaskRow } from "./list-unfinished-tasks.ts";

/**
 * Claims tasks of an agent that have a running turn, although no living node holds their lease. If two nodes claim a task
 * at the same time, the second node finds another epoch. The condition on the lease alone would not suffice, because
 * PostgreSQL does not evaluate a subquery again for a row that it has waited for.
 */
export const CLAIM_TASKS: PostgresStatement<
  readonly [node: string, agent: string, limit: number],
  UnfinishedTaskRow & { readonly epoch: number; readonly is_cancel_requested: boolean }
> = defineStatement(
  "colloquy_claim_tasks",
  `WITH claimable AS MATERIALIZED (
    SELECT key, epoch FROM colloquy.task AS task
    WHERE running AND agent = $2 AND NOT EXISTS (
        SELECT 1 FROM colloquy.node AS holder WHERE holder.id = task.lease_node AND holder.expires_at > now()
      )
    ORDER BY key LIMIT $3
  ),
  claimed AS (
    UPDATE colloquy.task AS task SET epoch = task.epoch + 1, lease_node = $1::uuid
    FROM claimable WHERE task.key = claimable.key AND task.epoch = claimable.epoch
    RETURNING task.*
  )
  SELECT tenant, principal, agent, task_id, context_id, seq, state, status_time, turn.json AS turn, epoch,
    EXISTS (
      SELECT 1 FROM colloquy.task_request AS request
      WHERE request.task = claimed.key AND request.kind = 'cancel' AND request.answer IS NULL
        AND request.expires_at > now()
    ) AS is_cancel_requested
  FROM claimed LEFT JOIN colloquy.turn AS turn ON turn.task = claimed.key`,
);
