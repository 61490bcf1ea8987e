import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Lists the tasks with queued turns, except those whose turn another living node than parameter 1 runs. */
export const LIST_QUEUED_TASKS: PostgresStatement<
  readonly [node: string],
  { readonly tenant: string; readonly principal: string; readonly agent: string; readonly task_id: string }
> = defineStatement(
  "colloquy_list_queued_tasks",
  `SELECT tenant, principal, agent, task_id
  FROM (SELECT DISTINCT task FROM colloquy.queued_turn) AS queue JOIN colloquy.task AS task ON task.key = queue.task
  WHERE NOT (task.running AND EXISTS (
    SELECT 1 FROM colloquy.node AS holder
    WHERE holder.id = task.lease_node AND holder.id <> $1::uuid
  ))`,
);
