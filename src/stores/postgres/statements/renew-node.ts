import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/**
 * Extends the lease of a node, or registers the node. A node may extend a lease that has expired, because a claim
 * by another node has incremented the epoch of the claimed task. Also deletes the requests that have expired, and
 * returns whether another node is alive.
 */
export const RENEW_NODE: PostgresStatement<
  readonly [node: string, leaseMs: number],
  { readonly has_other_nodes: boolean }
> = defineStatement(
  "colloquy_renew_node",
  `WITH renewed AS (
    INSERT INTO colloquy.node (id, expires_at) VALUES ($1::uuid, now() + $2::int * interval '1 millisecond')
    ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
  ),
  expired_request AS (DELETE FROM colloquy.task_request WHERE expires_at < now())
  SELECT EXISTS (
    SELECT 1 FROM colloquy.node AS other WHERE other.id <> $1::uuid AND other.expires_at > now()
  ) AS has_other_nodes`,
);
