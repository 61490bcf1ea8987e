import { defineStatement, type PostgresStatement } from "../define-statement.ts";

export interface DeletableTaskRow {
  readonly key: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly task_id: string;
  readonly state: string;
  readonly status_time: string;
  readonly has_events: boolean;
  readonly has_pending_webhooks: boolean;
}

const SELECT_DELETABLE_TASKS = `
  SELECT key, tenant, principal, agent, task_id, state, status_time,
    EXISTS (SELECT 1 FROM colloquy.log AS log WHERE log.task = task.key) AS has_events,
    EXISTS (SELECT 1 FROM colloquy.push AS push WHERE push.task = task.key AND push.owing) AS has_pending_webhooks
  FROM colloquy.task AS task`;

type StoppedTasksStatement = PostgresStatement<
  readonly [before: string, afterTime: string, afterKey: number, limit: number],
  DeletableTaskRow
>;

/** The states must be those of a partial index, so that the query reads only the page. */
function defineStoppedTasksStatement(name: string, states: string): StoppedTasksStatement {
  return defineStatement(
    name,
    `${SELECT_DELETABLE_TASKS}
  WHERE state IN (${states}) AND status_time < $1 AND (status_time, key) > ($2, $3::bigint)
  ORDER BY status_time, key LIMIT $4`,
  );
}

export const LIST_ENDED_TASKS: StoppedTasksStatement = defineStoppedTasksStatement(
  "colloquy_list_ended_tasks",
  "'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'",
);

export const LIST_WAITING_TASKS: StoppedTasksStatement = defineStoppedTasksStatement(
  "colloquy_list_waiting_tasks",
  "'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'",
);

/** Columns that can select tasks. */
export type SelectorColumn = "task_id" | "context_id" | "principal" | "tenant" | "agent";

/**
 * Returns the statement that finds tasks in any state by the values of the columns. The last parameter is the maximum
 * number of tasks. Without a task id, the statement reads all tasks.
 */
export function createMatchingTasksStatement(
  columns: readonly SelectorColumn[],
): PostgresStatement<readonly (string | number)[], DeletableTaskRow> {
  const conditions = columns.map((column, at) => `${column} = $${at + 1}`);
  return defineStatement(
    `colloquy_find_tasks_by_${columns.join("_")}`,
    `${SELECT_DELETABLE_TASKS} WHERE ${conditions.join(" AND ")} LIMIT $${columns.length + 1}`,
  );
}
