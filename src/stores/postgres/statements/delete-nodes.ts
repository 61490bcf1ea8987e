import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Deletes a node that stops, and the nodes that have not renewed their leases for a day. */
export const DELETE_NODES: PostgresStatement<readonly [node: string], never> = defineStatement(
  "colloquy_delete_nodes",
  `DELETE FROM colloquy.node WHERE id = $1::uuid OR expires_at < now() - interval '1 day'`,
);
