import { defineStatement, type PostgresStatement } from "../define-statement.ts";

export interface UnfinishedTaskRow {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly task_id: string;
  readonly context_id: string;
  readonly seq: number;
  readonly state: string;
  readonly status_time: string;
  readonly turn: string | null;
}

type ClaimTasksStatement = PostgresStatement<
  readonly [node: string, agent: string, limit: number],
  UnfinishedTaskRow & { readonly epoch: number; readonly is_cancel_requested: boolean }
>;

/** Number of tasks that a claim considers per task that it may claim, because concurrent claims take the same tasks. */
const CANDIDATES_PER_CLAIM = 4;

/**
 * True for a task whose lease no living node holds. Another node can have deleted the row of the claiming node during a
 * pause of its process. The node runs the turns of its leases, or releases the leases that it does not know.
 */
const IS_UNHELD_SQL = `task.lease_node IS DISTINCT FROM $1::uuid AND NOT EXISTS (
        SELECT 1 FROM colloquy.node AS holder WHERE holder.id = task.lease_node
      )`;

/** True for a task without a lease that waits for its first attempt, or whose suspended turn is due. */
const IS_WAITING_SQL = "task.lease_node IS NULL AND task.wake_at <= now()";

/** Selects the tasks without a lease that have an unanswered request, which also ends the suspension of a turn. */
const SELECT_REQUESTED_SQL = `SELECT task.key, task.epoch
    FROM colloquy.task_request AS request JOIN colloquy.task AS task ON task.key = request.task
    WHERE request.answer IS NULL AND request.expires_at > now()
      AND task.running AND task.agent = $2 AND task.lease_node IS NULL`;

/**
 * Creates a statement that claims tasks of an agent that have a running turn, although no living node holds their
 * lease. `otherTasks` is a query for further tasks. If two nodes claim a task at the same time, the second node finds another epoch, or skips the locked row. The
 * condition on the lease alone would not suffice, because PostgreSQL does not evaluate a subquery again for a row that
 * another transaction has changed.
 */
const defineClaimStatement = (name: string, condition: string, otherTasks?: string): ClaimTasksStatement =>
  defineStatement(
    name,
    `WITH claimable AS MATERIALIZED (
    (SELECT key, epoch FROM colloquy.task AS task
    WHERE running AND agent = $2 AND ${condition}
    ORDER BY key LIMIT $3::int * ${CANDIDATES_PER_CLAIM})
    ${otherTasks ? `UNION ${otherTasks}` : ""}
  ),
  locked AS (
    SELECT task.key FROM colloquy.task AS task JOIN claimable ON claimable.key = task.key
    WHERE task.epoch = claimable.epoch
    ORDER BY task.key LIMIT $3::int FOR UPDATE OF task SKIP LOCKED
  ),
  claimed AS (
    UPDATE colloquy.task AS task SET epoch = task.epoch + 1, lease_node = $1::uuid, wake_at = '-infinity'
    FROM locked WHERE task.key = locked.key
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

/** Claims tasks that no living node holds. */
export const CLAIM_TASKS: ClaimTasksStatement = defineClaimStatement(
  "colloquy_claim_tasks",
  `task.wake_at <= now() AND ${IS_UNHELD_SQL}`,
  SELECT_REQUESTED_SQL,
);

/** Claims tasks of nodes that have stopped without a release. */
export const CLAIM_LOST_TASKS: ClaimTasksStatement = defineClaimStatement(
  "colloquy_claim_lost_tasks",
  `task.lease_node IS NOT NULL AND ${IS_UNHELD_SQL}`,
);

/** Claims tasks whose lease is released, and which are not suspended. */
export const CLAIM_WAITING_TASKS: ClaimTasksStatement = defineClaimStatement(
  "colloquy_claim_waiting_tasks",
  IS_WAITING_SQL,
  SELECT_REQUESTED_SQL,
);
