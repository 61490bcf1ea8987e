import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/**
 * Extends the lease of a node, or registers the node. A node may extend a lease that has expired, because a claim
 * by another node has incremented the epoch of the claimed task.
 */
export const RENEW_NODE: PostgresStatement<readonly [node: string, leaseMs: number], never> = defineStatement(
  "colloquy_renew_node",
  `INSERT INTO colloquy.node (id, expires_at) VALUES ($1::uuid, now() + $2::int * interval '1 millisecond')
  ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
);
