import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Lists the tasks with queued turns. */
export const LIST_QUEUED_TASKS: PostgresStatement<
  readonly [],
  { readonly tenant: string; readonly principal: string; readonly agent: string; readonly task_id: string }
> = defineStatement(
  "colloquy_list_queued_tasks",
  `SELECT tenant, principal, agent, task_id
  FROM (SELECT DISTINCT task FROM colloquy.queued_turn) AS queue JOIN colloquy.task AS task ON task.key = queue.task`,
);
