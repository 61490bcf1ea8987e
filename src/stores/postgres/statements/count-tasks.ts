import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** `contextId` is absent in the statement for all contexts. */
export type CountTasksParameters = readonly [
  scope: string,
  states: readonly string[],
  since: string,
  max: number,
  contextId?: string,
];

/** Counts the matching tasks, but stops at `max`. Reads only indexes. */
function renderCountSql(contextCondition: string): string {
  return `SELECT count(*) AS count FROM (
    SELECT 1 FROM unnest($2::text[]) AS wanted (state) CROSS JOIN LATERAL (
      SELECT 1 FROM colloquy.task
      WHERE scope = $1::uuid AND state = wanted.state AND status_time >= $3 ${contextCondition}
      LIMIT $4
    ) AS task
    LIMIT $4
  ) AS counted`;
}

export const COUNT_TASKS: PostgresStatement<CountTasksParameters, { readonly count: number }> =
  defineStatement("colloquy_count_tasks", renderCountSql(""));

export const COUNT_TASKS_OF_CONTEXT: PostgresStatement<CountTasksParameters, { readonly count: number }> =
  defineStatement("colloquy_count_tasks_of_context", renderCountSql("AND context_id = $5"));
