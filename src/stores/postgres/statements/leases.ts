import type { TaskLease, TaskScope } from "../../../engine/index.ts";
import type { UnfinishedTaskRow } from "../../stored-rows.ts";
import { type PostgresStatement, defineStatement } from "../define-statement.ts";

type ClaimTasksStatement = PostgresStatement<
  readonly [node: string, agent: string, limit: number],
  UnfinishedTaskRow & { readonly epoch: number; readonly isCancelRequested: boolean }
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
  SELECT tenant, principal, agent, task_id AS "taskId", context_id AS "contextId", seq, state,
    status_time AS timestamp, turn.json AS turn, epoch, EXISTS (
      SELECT 1 FROM colloquy.task_request AS request
      WHERE request.task = claimed.key AND request.kind = 'cancel' AND request.answer IS NULL
        AND request.expires_at > now()
    ) AS "isCancelRequested"
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

/** Maximum number of waiting turns that a renewal counts, so that its time stays short. */
const MAX_COUNTED_TURNS = 10_000;

/** Another node, and the number of its last renewal. */
export interface RenewedNodeRow {
  readonly id: string;
  readonly renewal: number;
  readonly lease_ms: number;
  /** True if the node has leases of running turns. */
  readonly holds_turns: boolean;
}

/** A row per other node, or one row without a node. Each row has the number of turns that wait for a node. */
type RenewNodeRow = { readonly waiting_turns: number } & {
  readonly [Column in keyof RenewedNodeRow]: RenewedNodeRow[Column] | null;
};

/**
 * Renews the leases of a node, or registers the node. A node may renew its leases after another node has deleted its row,
 * because a claim increments the epoch of the claimed task. Also deletes the requests that have expired. Returns
 * the other nodes, and the number of turns that wait for a node that starts agents. The index of running tasks contains
 * these turns.
 */
export const RENEW_NODE: PostgresStatement<
  readonly [node: string, renewal: number, leaseMs: number],
  RenewNodeRow
> = defineStatement(
  "colloquy_renew_node",
  `WITH renewed AS (
    INSERT INTO colloquy.node (id, renewal, lease_ms) VALUES ($1::uuid, $2, $3)
    ON CONFLICT (id) DO UPDATE SET renewal = excluded.renewal, lease_ms = excluded.lease_ms
  ),
  expired_request AS (DELETE FROM colloquy.task_request WHERE expires_at < now())
  SELECT waiting.turns AS waiting_turns, other.id, other.renewal, other.lease_ms, EXISTS (
    SELECT 1 FROM colloquy.task AS task WHERE task.running AND task.lease_node = other.id
  ) AS holds_turns
  FROM (
    SELECT count(*)::int AS turns FROM (
      SELECT 1 FROM colloquy.task WHERE running AND lease_node IS NULL AND wake_at <= now()
      LIMIT ${MAX_COUNTED_TURNS}
    ) AS counted
  ) AS waiting LEFT JOIN colloquy.node AS other ON other.id <> $1::uuid`,
);

/** Deletes a node that stops. */
export const DELETE_NODE: PostgresStatement<readonly [node: string], never> = defineStatement(
  "colloquy_delete_node",
  "DELETE FROM colloquy.node WHERE id = $1::uuid",
);

/**
 * Deletes silent nodes, unless they have renewed their leases since the renewals that the arrays contain. Skips the nodes
 * that another node deletes at the same time.
 */
export const DELETE_SILENT_NODES: PostgresStatement<
  readonly [nodes: readonly string[], renewals: readonly number[]],
  never
> = defineStatement(
  "colloquy_delete_silent_nodes",
  `WITH silent AS (
    SELECT node.id FROM unnest($1::uuid[], $2::bigint[]) AS known (id, renewal)
      JOIN colloquy.node AS node ON node.id = known.id AND node.renewal = known.renewal
    ORDER BY node.id FOR UPDATE OF node SKIP LOCKED
  )
  DELETE FROM colloquy.node WHERE id IN (SELECT id FROM silent)`,
);

/**
 * Finds running tasks whose lease the node holds without knowing it, because the result of a claim or of a commit was
 * lost. The arrays contain the leases that the node knows.
 */
export const FIND_FORGOTTEN_LEASES: PostgresStatement<
  readonly [node: string, scopes: readonly string[], taskIds: readonly string[]],
  TaskScope & Pick<TaskLease, "taskId" | "epoch">
> = defineStatement(
  "colloquy_find_forgotten_leases",
  `SELECT tenant, principal, agent, task_id AS "taskId", epoch FROM colloquy.task AS task
  WHERE running AND lease_node = $1::uuid AND NOT EXISTS (
    SELECT 1 FROM unnest($2::uuid[], $3::text[]) AS held (scope, task_id)
    WHERE held.scope = task.scope AND held.task_id = task.task_id
  )`,
);

/** Finds the leases that another node has claimed. The result contains their positions in the arrays, from 1. */
export const FIND_LOST_LEASES: PostgresStatement<
  readonly [scopes: readonly string[], taskIds: readonly string[], epochs: readonly number[]],
  { readonly position: number }
> = defineStatement(
  "colloquy_find_lost_leases",
  `SELECT held.position
  FROM unnest($1::uuid[], $2::text[], $3::bigint[]) WITH ORDINALITY AS held (scope, task_id, epoch, position)
    JOIN colloquy.task AS task ON task.task_id = held.task_id AND task.scope = held.scope
  WHERE task.epoch > held.epoch`,
);

/** Releases the lease of a task, so that every node can claim the task. */
export const RELEASE_LEASE: PostgresStatement<
  readonly [node: string, scope: string, taskId: string, epoch: number],
  never
> = defineStatement(
  "colloquy_release_lease",
  `UPDATE colloquy.task SET lease_node = NULL
  WHERE task_id = $3 AND scope = $2::uuid AND epoch = $4 AND lease_node = $1::uuid`,
);

/** Returns a row if a task has the given sequence number and epoch, and neither a running nor a queued turn. */
export const IS_TASK_UNCHANGED: PostgresStatement<
  readonly [scope: string, taskId: string, seq: number, epoch: number],
  { readonly key: number }
> = defineStatement(
  "colloquy_is_task_unchanged",
  `SELECT key FROM colloquy.task AS task
  WHERE task_id = $2 AND scope = $1::uuid AND seq = $3 AND epoch = $4 AND NOT running
    AND NOT EXISTS (SELECT 1 FROM colloquy.queued_turn AS queued_turn WHERE queued_turn.task = task.key)`,
);

/** Lists the tasks with queued turns, except those whose turn another living node than parameter 1 runs. */
export const LIST_QUEUED_TASKS: PostgresStatement<
  readonly [node: string],
  TaskScope & { readonly taskId: string }
> = defineStatement(
  "colloquy_list_queued_tasks",
  `SELECT tenant, principal, agent, task_id AS "taskId"
  FROM (SELECT DISTINCT task FROM colloquy.queued_turn) AS queue JOIN colloquy.task AS task ON task.key = queue.task
  WHERE NOT (task.running AND EXISTS (
    SELECT 1 FROM colloquy.node AS holder
    WHERE holder.id = task.lease_node AND holder.id <> $1::uuid
  ))`,
);

/** Reads the finished steps of a turn. */
export const READ_STEPS: PostgresStatement<
  readonly [scope: string, taskId: string, turnSeq: number],
  { readonly key: string; readonly json: string }
> = defineStatement(
  "colloquy_read_steps",
  `SELECT step.key, step.json
  FROM colloquy.task AS task JOIN colloquy.finished_step AS step ON step.task = task.key
  WHERE task.scope = $1::uuid AND task.task_id = $2 AND step.turn_seq = $3`,
);
