import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Stores a request for the node that runs the turn of a task. Returns no row if the task has no running turn. */
export const INSERT_TASK_REQUEST: PostgresStatement<
  readonly [id: string, scope: string, taskId: string, kind: string, payload: string, timeoutMs: number],
  { readonly id: string }
> = defineStatement(
  "colloquy_insert_task_request",
  `INSERT INTO colloquy.task_request (id, task, kind, payload, expires_at)
  SELECT $1::uuid, task.key, $4, $5, now() + $6::int * interval '1 millisecond'
  FROM colloquy.task AS task WHERE task.task_id = $3 AND task.scope = $2::uuid
    AND (task.running OR EXISTS (SELECT 1 FROM colloquy.queued_turn AS queued_turn WHERE queued_turn.task = task.key))
  RETURNING id`,
);
