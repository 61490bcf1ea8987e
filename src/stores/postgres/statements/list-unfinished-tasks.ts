import { defineStatement, type PostgresStatement } from "../define-statement.ts";

export interface UnfinishedTaskRow {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly task_id: string;
  readonly context_id: string;
  readonly seq: number;
  readonly state: string;
  readonly status_time: string;
  readonly turn: string | null;
}

/** Lists the tasks with a running turn, whichever node runs the turn. */
export const LIST_UNFINISHED_TASKS: PostgresStatement<readonly [], UnfinishedTaskRow> = defineStatement(
  "colloquy_list_unfinished_tasks",
  `SELECT tenant, principal, agent, task_id, context_id, seq, state, status_time, turn.json AS turn
  FROM colloquy.task AS task LEFT JOIN colloquy.turn AS turn ON turn.task = task.key
  WHERE running`,
);
