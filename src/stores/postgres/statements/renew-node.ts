import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Maximum number of waiting turns that a renewal counts, so that its time stays short. */
const MAX_COUNTED_TURNS = 10_000;

/**
 * Extends the lease of a node, or registers the node. A node may extend a lease that has expired, because a claim
 * by another node has incremented the epoch of the claimed task. Also deletes the requests that have expired, and
 * returns whether another node is alive, and the number of turns that wait for a node that starts agents. The index of
 * running tasks contains these turns.
 */
export const RENEW_NODE: PostgresStatement<
  readonly [node: string, leaseMs: number],
  { readonly has_other_nodes: boolean; readonly waiting_turns: number }
> = defineStatement(
  "colloquy_renew_node",
  `WITH renewed AS (
    INSERT INTO colloquy.node (id, expires_at) VALUES ($1::uuid, now() + $2::int * interval '1 millisecond')
    ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
  ),
  expired_request AS (DELETE FROM colloquy.task_request WHERE expires_at < now())
  SELECT EXISTS (
    SELECT 1 FROM colloquy.node AS other WHERE other.id <> $1::uuid AND other.expires_at > now()
  ) AS has_other_nodes, (
    SELECT count(*)::int FROM (
      SELECT 1 FROM colloquy.task WHERE running AND lease_node IS NULL AND wake_at <= now()
      LIMIT ${MAX_COUNTED_TURNS}
    ) AS waiting
  ) AS waiting_turns`,
);
