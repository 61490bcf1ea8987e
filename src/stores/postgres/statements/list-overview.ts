import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** `scopes`, `agent`, and `contextId` are `null` without a condition. */
export type ListOverviewParameters = readonly [
  states: readonly string[],
  since: string,
  until: string,
  afterTime: string,
  afterTaskId: string,
  limit: number,
  scopes: readonly string[] | null,
  agent: string | null,
  contextId: string | null,
];

export interface OverviewRow {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly task_id: string;
  readonly context_id: string;
  readonly state: string;
  readonly status_time: string;
  readonly seq: number;
}

const COLUMNS = "tenant, principal, agent, task_id, context_id, state, status_time, seq";

type ListOverviewStatement = PostgresStatement<ListOverviewParameters, OverviewRow>;

/**
 * Defines a statement that reads a page of tasks from one index range per wanted state. `range` are the conditions on the
 * first columns of the index, and `filter` are the other conditions.
 */
function defineOverviewStatement(
  name: string,
  {
    wanted = "",
    range,
    filter,
  }: { readonly wanted?: string; readonly range: string; readonly filter: string },
): ListOverviewStatement {
  return defineStatement(
    name,
    `SELECT ${COLUMNS} FROM (
    SELECT task.* FROM unnest($1::text[]) AS wanted_state ${wanted} CROSS JOIN LATERAL (
      SELECT ${COLUMNS} FROM colloquy.task
      WHERE ${range} AND state = wanted_state AND status_time >= $2 AND status_time <= $3
        AND (status_time, task_id) < ($4, $5) AND ${filter}
      ORDER BY status_time DESC, task_id DESC LIMIT $6::int
    ) AS task
  ) AS candidate
  ORDER BY status_time DESC, task_id DESC LIMIT $6::int`,
  );
}

// Each statement names all parameters, because PostgreSQL needs their types.
const HAS_NO_SCOPES = "$7::uuid[] IS NULL";
const HAS_NO_AGENT = "$8::text IS NULL";
const HAS_NO_CONTEXT = "$9::text IS NULL";
const WANTED_SCOPES = "CROSS JOIN unnest($7::uuid[]) AS wanted_scope";

/** Reads the index `task_by_state`. */
export const LIST_OVERVIEW_OF_SCOPES: ListOverviewStatement = defineOverviewStatement(
  "colloquy_list_overview_of_scopes",
  { wanted: WANTED_SCOPES, range: "scope = wanted_scope", filter: `${HAS_NO_AGENT} AND ${HAS_NO_CONTEXT}` },
);

/** Reads the index `task_by_context`. */
export const LIST_OVERVIEW_OF_SCOPES_AND_CONTEXT: ListOverviewStatement = defineOverviewStatement(
  "colloquy_list_overview_of_scopes_and_context",
  { wanted: WANTED_SCOPES, range: "scope = wanted_scope AND context_id = $9::text", filter: HAS_NO_AGENT },
);

/** Reads the index `task_overview`. */
export const LIST_OVERVIEW: ListOverviewStatement = defineOverviewStatement("colloquy_list_overview", {
  range: "TRUE",
  filter: `${HAS_NO_SCOPES} AND ${HAS_NO_AGENT} AND ${HAS_NO_CONTEXT}`,
});

/** Reads the index `task_overview_of_agent`. */
export const LIST_OVERVIEW_OF_AGENT: ListOverviewStatement = defineOverviewStatement(
  "colloquy_list_overview_of_agent",
  { range: "agent = $8::text", filter: `${HAS_NO_SCOPES} AND ${HAS_NO_CONTEXT}` },
);

/** Reads the index `task_overview_of_context`. A context has few tasks of other agents. */
export const LIST_OVERVIEW_OF_CONTEXT: ListOverviewStatement = defineOverviewStatement(
  "colloquy_list_overview_of_context",
  { range: "context_id = $9::text", filter: `${HAS_NO_SCOPES} AND (${HAS_NO_AGENT} OR agent = $8)` },
);

/** Reads a page of the tasks that match a text query. Considers the 20,000 matches that were created last. */
export const LIST_OVERVIEW_OF_TEXT: PostgresStatement<
  readonly [...ListOverviewParameters, textQuery: string],
  OverviewRow
> = defineStatement(
  "colloquy_list_overview_of_text",
  `SELECT ${COLUMNS} FROM (
    SELECT task_text.task FROM colloquy.task_text AS task_text WHERE task_text.words @@ $10::tsquery
    ORDER BY task_text.task DESC LIMIT 20000
  ) AS found JOIN colloquy.task AS task ON task.key = found.task
  WHERE task.state = ANY ($1::text[]) AND status_time >= $2 AND status_time <= $3
    AND (status_time, task_id) < ($4, $5) AND ($7::uuid[] IS NULL OR scope = ANY ($7::uuid[]))
    AND ($8::text IS NULL OR agent = $8) AND ($9::text IS NULL OR context_id = $9)
  ORDER BY status_time DESC, task_id DESC LIMIT $6::int`,
);

/** Finds the owner of a task. */
export const FIND_TASK_SCOPE: PostgresStatement<
  readonly [taskId: string, agent: string],
  { readonly tenant: string; readonly principal: string; readonly agent: string }
> = defineStatement(
  "colloquy_find_task_scope",
  "SELECT tenant, principal, agent FROM colloquy.task WHERE task_id = $1 AND agent = $2 LIMIT 1",
);
