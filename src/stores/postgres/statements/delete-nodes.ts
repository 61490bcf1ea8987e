import { defineStatement, type PostgresStatement } from "../define-statement.ts";

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
