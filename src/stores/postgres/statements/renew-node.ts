import { defineStatement, type PostgresStatement } from "../define-statement.ts";

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
