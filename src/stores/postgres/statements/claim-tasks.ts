import { defineStatement, type PostgresStatement } from "../define-statement.ts";
import type { UnfinishedTaskRow } from "./list-unfinished-tasks.ts";

/**
 * Claims tasks of an agent that have a running turn, although no living node holds their lease. Two nodes never claim
 * the same task, because each node skips the rows that the other node has locked.
 */
export const CLAIM_TASKS: PostgresStatement<
  readonly [node: string, agent: string, limit: number],
  UnfinishedTaskRow & { readonly epoch: number }
> = defineStatement(
  "colloquy_claim_tasks",
  `WITH claimable AS MATERIALIZED (
    SELECT key FROM colloquy.task AS task
    WHERE running AND agent = $2 AND NOT EXISTS (
        SELECT 1 FROM colloquy.node AS holder WHERE holder.id = task.lease_node AND holder.expires_at > now()
      )
    LIMIT $3 FOR UPDATE SKIP LOCKED
  ),
  claimed AS (
    UPDATE colloquy.task AS task SET epoch = task.epoch + 1, lease_node = $1::uuid
    FROM claimable WHERE task.key = claimable.key
    RETURNING task.*
  )
  SELECT tenant, principal, agent, task_id, context_id, seq, state, status_time, turn.json AS turn, epoch
  FROM claimed LEFT JOIN colloquy.turn AS turn ON turn.task = claimed.key`,
);
