import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { toScope } from "../task-owner-scope-key.ts";
import { parseTextQuery } from "../task-words.ts";
import { defineStatement, type PostgresStatement } from "./define-statement.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { renderWordQuery, type PostgresTextIndex } from "./postgres-text-index.ts";
import { END_OF_TIMES } from "./postgres-task-reader.ts";
import { computeScopeKey } from "./scope-key.ts";
import * as statements from "./statements/overview.ts";
import type { TaskOverview, TaskOverviewEntry, TaskOverviewQuery } from "../server-store.ts";

/**
 * Indexes for lists of the tasks of all callers, one for each filter that selects few of many tasks. Only servers with
 * operators create them, without blocking commits.
 */
const OVERVIEW_INDEXES = {
  task_overview: "state, status_time, task_id",
  task_overview_of_agent: "agent, state, status_time, task_id",
  task_overview_of_context: "context_id, state, status_time, task_id",
};

const CREATE_OVERVIEW_INDEXES: readonly PostgresStatement<readonly [], never>[] = Object.entries(
  OVERVIEW_INDEXES,
).map(([name, columns]) =>
  defineStatement(
    `colloquy_create_${name}`,
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON colloquy.task (${columns})`,
  ),
);

/** Creates the overview of a PostgreSQL store. */
export function createPostgresTaskOverview(
  connection: PostgresConnection,
  textIndex: PostgresTextIndex,
): TaskOverview {
  return {
    textIndex,
    prepareForAllCallers: async () => {
      for (const statement of CREATE_OVERVIEW_INDEXES) await connection.query(statement, []);
    },
    list: async (query) => {
      const rows = await selectOverviewRows(connection, query);
      const tasks = rows.slice(0, query.limit).map(toOverviewEntry);
      return { tasks, hasMore: rows.length > query.limit };
    },
    findScope: async (agent, taskId) => {
      const [row] = await connection.query(statements.FIND_TASK_SCOPE, [taskId, agent]);
      return row && toScope(row);
    },
  };
}

async function selectOverviewRows(
  connection: PostgresConnection,
  query: TaskOverviewQuery,
): Promise<statements.OverviewRow[]> {
  const { scopes, agent, contextId, status, statusSince = "", statusUntil, after, limit, text } = query;
  // The first position after all tasks with the latest status time.
  const end = statusUntil === undefined ? END_OF_TIMES : statusUntil + END_OF_TIMES;
  const position =
    after && after.timestamp < end ? ([after.timestamp, after.taskId] as const) : ([end, ""] as const);
  const parameters: statements.ListOverviewParameters = [
    status === undefined ? STORED_TASK_STATES : [status],
    statusSince,
    ...position,
    limit + 1,
    scopes?.map(computeScopeKey) ?? null,
    scopes ? null : (agent ?? null),
    contextId ?? null,
  ];
  if (text === undefined) return connection.query(chooseListStatement(query), parameters);
  const textQuery = parseTextQuery(text);
  // A text without words matches no task.
  if (!textQuery) return [];
  return connection.query(statements.LIST_OVERVIEW_OF_TEXT, [...parameters, renderWordQuery(textQuery)]);
}

/** Returns the statement whose index has the conditions of a query without a text in its first columns. */
export function chooseListStatement({
  scopes,
  agent,
  contextId,
}: Omit<TaskOverviewQuery, "limit">): PostgresStatement<
  statements.ListOverviewParameters,
  statements.OverviewRow
> {
  if (scopes)
    return contextId === undefined
      ? statements.LIST_OVERVIEW_OF_SCOPES
      : statements.LIST_OVERVIEW_OF_SCOPES_AND_CONTEXT;
  if (contextId !== undefined) return statements.LIST_OVERVIEW_OF_CONTEXT;
  return agent === undefined ? statements.LIST_OVERVIEW : statements.LIST_OVERVIEW_OF_AGENT;
}

function toOverviewEntry(row: statements.OverviewRow): TaskOverviewEntry {
  const { taskId, contextId, state, timestamp, seq } = row;
  return { scope: toScope(row), taskId, contextId, state, timestamp, seq };
}
