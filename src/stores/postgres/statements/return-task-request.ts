import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Returns a taken request, so that the node with the lease can take it again. */
export const RETURN_TASK_REQUEST: PostgresStatement<readonly [id: string], never> = defineStatement(
  "colloquy_return_task_request",
  `UPDATE colloquy.task_request SET taken_epoch = NULL WHERE id = $1::uuid`,
);
