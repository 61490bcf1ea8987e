import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Reads the finished steps of a turn. */
export const READ_STEPS: PostgresStatement<
  readonly [scope: string, taskId: string, turnSeq: number],
  { readonly key: string; readonly json: string }
> = defineStatement(
  "colloquy_read_steps",
  `SELECT step.key, step.json
  FROM colloquy.task AS task JOIN colloquy.finished_step AS step ON step.task = task.key
  WHERE task.scope = $1::uuid AND task.task_id = $2 AND step.turn_seq = $3`,
);
