import { defineStatement, type PostgresStatement } from "../define-statement.ts";

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
