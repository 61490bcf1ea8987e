import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Deletes a request whose sender no longer waits. */
export const DELETE_TASK_REQUEST: PostgresStatement<readonly [id: string], never> = defineStatement(
  "colloquy_delete_task_request",
  `DELETE FROM colloquy.task_request WHERE id = $1::uuid`,
);
