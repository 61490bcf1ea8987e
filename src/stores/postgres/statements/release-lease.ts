import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Releases the lease of a task, so that every node can claim the task. */
export const RELEASE_LEASE: PostgresStatement<
  readonly [node: string, scope: string, taskId: string, epoch: number],
  never
> = defineStatement(
  "colloquy_release_lease",
  `UPDATE colloquy.task SET lease_node = NULL
  WHERE task_id = $3 AND scope = $2::uuid AND epoch = $4 AND lease_node = $1::uuid`,
);
