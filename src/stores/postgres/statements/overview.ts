import type { TaskScope } from "../../../engine/index.ts";
import type { TaskOverviewEntry } from "../../server-store.ts";
import { type PostgresStatement, defineStatement } from "../define-statement.ts";

/** `scopes`, `agent`, and `contextId` are `null` without a condition. */
export type ListOverviewParameters = readonly [
  states: readonly string[],
  since: string,
  afterTime: string,
  afterTaskId: string,
  limit: number,
  scopes: readonly string[] | null,
  agent: string | null,
  contextId: string | null,
];

export type OverviewRow = TaskScope & Omit<TaskOverviewEntry, "scope">;

/** Columns of `task` that a statement selects from `source`. */
const COLUMNS = `tenant, principal, agent, task_id AS "taskId", context_id AS "contextId", state,
    status_time AS timestamp, seq`;

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
      SELECT * FROM colloquy.task
      WHERE ${range} AND state = wanted_state AND status_time >= $2
        AND (status_time, task_id) < ($3, $4) AND ${filter}
      ORDER BY status_time DESC, task_id DESC LIMIT $5::int
    ) AS task
  ) AS candidate
  ORDER BY status_time DESC, task_id DESC LIMIT $5::int`,
  );
}

// Each statement names all parameters, because PostgreSQL needs their types.
const HAS_NO_SCOPES = "$6::uuid[] IS NULL";
const HAS_NO_AGENT = "$7::text IS NULL";
const HAS_NO_CONTEXT = "$8::text IS NULL";
const WANTED_SCOPES = "CROSS JOIN unnest($6::uuid[]) AS wanted_scope";

/** Reads the index `task_by_state`. */
export const LIST_OVERVIEW_OF_SCOPES: ListOverviewStatement = defineOverviewStatement(
  "colloquy_list_overview_of_scopes",
  { wanted: WANTED_SCOPES, range: "scope = wanted_scope", filter: `${HAS_NO_AGENT} AND ${HAS_NO_CONTEXT}` },
);

/** Reads the index `task_by_context`. */
export const LIST_OVERVIEW_OF_SCOPES_AND_CONTEXT: ListOverviewStatement = defineOverviewStatement(
  "colloquy_list_overview_of_scopes_and_context",
  { wanted: WANTED_SCOPES, range: "scope = wanted_scope AND context_id = $8::text", filter: HAS_NO_AGENT },
);

/** Reads the index `task_overview`. */
export const LIST_OVERVIEW: ListOverviewStatement = defineOverviewStatement("colloquy_list_overview", {
  range: "TRUE",
  filter: `${HAS_NO_SCOPES} AND ${HAS_NO_AGENT} AND ${HAS_NO_CONTEXT}`,
});

/** Reads the index `task_overview_of_agent`. */
export const LIST_OVERVIEW_OF_AGENT: ListOverviewStatement = defineOverviewStatement(
  "colloquy_list_overview_of_agent",
  { range: "agent = $7::text", filter: `${HAS_NO_SCOPES} AND ${HAS_NO_CONTEXT}` },
);

/** Reads the index `task_overview_of_context`. A context has few tasks of other agents. */
export const LIST_OVERVIEW_OF_CONTEXT: ListOverviewStatement = defineOverviewStatement(
  "colloquy_list_overview_of_context",
  { range: "context_id = $8::text", filter: `${HAS_NO_SCOPES} AND (${HAS_NO_AGENT} OR agent = $7)` },
);

/** Reads a page of the tasks that match a text query. Considers the 20,000 matches that were created last. */
export const LIST_OVERVIEW_OF_TEXT: PostgresStatement<
  readonly [...ListOverviewParameters, textQuery: string],
  OverviewRow
> = defineStatement(
  "colloquy_list_overview_of_text",
  `SELECT ${COLUMNS} FROM (
    SELECT task_text.task FROM colloquy.task_text AS task_text WHERE task_text.words @@ $9::tsquery
    ORDER BY task_text.task DESC LIMIT 20000
  ) AS found JOIN colloquy.task AS task ON task.key = found.task
  WHERE task.state = ANY ($1::text[]) AND status_time >= $2
    AND (status_time, task_id) < ($3, $4) AND ($6::uuid[] IS NULL OR scope = ANY ($6::uuid[]))
    AND ($7::text IS NULL OR agent = $7) AND ($8::text IS NULL OR context_id = $8)
  ORDER BY status_time DESC, task_id DESC LIMIT $5::int`,
);

/** Finds the owner of a task. Without the table expression, the plan could read all tasks of the agent. */
export const FIND_TASK_SCOPE: PostgresStatement<readonly [taskId: string, agent: string], TaskScope> =
  defineStatement(
    "colloquy_find_task_scope",
    `WITH found AS MATERIALIZED (SELECT tenant, principal, agent FROM colloquy.task WHERE task_id = $1)
    SELECT tenant, principal, agent FROM found WHERE agent = $2 LIMIT 1`,
  );

/** A task whose words the index lacks. */
export interface UnindexedTaskRow extends TaskScope {
  readonly key: number;
  readonly taskId: string;
}

/**
 * Finds the tasks that a node has queued for the text index, and the tasks that a dead node has queued. Each node indexes
 * its own tasks, so that two nodes do not index the same task.
 */
export const FIND_QUEUED_TEXT: PostgresStatement<
  readonly [node: string, limit: number],
  UnindexedTaskRow & { readonly queueKey: number }
> = defineStatement(
  "colloquy_find_queued_text",
  `SELECT queued.key AS "queueKey", task.key, task.tenant, task.principal, task.agent,
    task.task_id AS "taskId"
  FROM colloquy.task_text_queue AS queued JOIN colloquy.task AS task ON task.key = queued.task
  WHERE queued.node = $1::uuid OR NOT EXISTS (
    SELECT 1 FROM colloquy.node AS owner WHERE owner.id = queued.node
  )
  ORDER BY queued.key LIMIT $2::int`,
);

/**
 * Finds the unindexed tasks without a running turn in a range of keys. Each row also has the number of tasks in the range
 * and the last key. A range without unindexed tasks has one row.
 */
export const FIND_UNINDEXED_TASKS: PostgresStatement<
  readonly [afterKey: number, rangeLength: number],
  { readonly taskCount: number; readonly lastKey: number | null } & {
    readonly [Column in keyof UnindexedTaskRow]: UnindexedTaskRow[Column] | null;
  }
> = defineStatement(
  "colloquy_find_unindexed_tasks",
  `WITH following AS MATERIALIZED (
    SELECT key, tenant, principal, agent, task_id, seq, running FROM colloquy.task AS task
    WHERE task.key > $1 ORDER BY task.key LIMIT $2::int
  )
  SELECT range.task_count AS "taskCount", range.last_key AS "lastKey", unindexed.key, unindexed.tenant, unindexed.principal, unindexed.agent,
    unindexed.task_id AS "taskId"
  FROM (SELECT count(*) AS task_count, max(key) AS last_key FROM following) AS range LEFT JOIN (
    SELECT following.* FROM following WHERE NOT following.running AND NOT EXISTS (
      SELECT 1 FROM colloquy.task_text AS task_text
      WHERE task_text.task = following.key AND task_text.seq = following.seq
    )
  ) AS unindexed ON true
  ORDER BY unindexed.key`,
);

/**
 * Stores the words of a task as of the event `seq`, unless the task is deleted or the index has later words. The lock
 * makes a deletion wait, so that no words remain of a deleted task. Also removes the given entries of the queue.
 */
export const SAVE_TEXT: PostgresStatement<
  readonly [key: number, seq: number, words: string, queueKeys: readonly number[]],
  never
> = defineStatement(
  "colloquy_save_text",
  `WITH kept AS MATERIALIZED (SELECT key FROM colloquy.task WHERE key = $1 FOR KEY SHARE),
  saved AS (
    INSERT INTO colloquy.task_text AS known (task, seq, words) SELECT key, $2, $3::tsvector FROM kept
    ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, words = excluded.words WHERE known.seq <= excluded.seq
  )
  DELETE FROM colloquy.task_text_queue WHERE key = ANY ($4::bigint[])`,
);
