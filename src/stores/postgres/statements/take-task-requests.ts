import { defineStatement, type PostgresStatement } from "../define-statement.ts";

export interface TaskRequestRow {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly task_id: string;
}

/** Takes the unanswered requests for the tasks whose lease a node holds. Each lease takes a request once. */
export const TAKE_TASK_REQUESTS: PostgresStatement<readonly [node: string], TaskRequestRow> = defineStatement(
  "colloquy_take_task_requests",
  `UPDATE colloquy.task_request AS request SET taken_epoch = task.epoch
  FROM colloquy.task AS task
  WHERE request.task = task.key AND request.answer IS NULL AND request.expires_at > now()
    AND task.lease_node = $1::uuid AND (request.taken_epoch IS NULL OR request.taken_epoch <> task.epoch)
  RETURNING request.id, request.kind, request.payload, task.tenant, task.principal, task.agent, task.task_id`,
);
