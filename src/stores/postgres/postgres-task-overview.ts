import type { TaskScope } from "../../engine/index.ts";
import type { TaskState } from "../../protocol/index.ts";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { parseTextQuery } from "../task-words.ts";
import { defineStatement, type PostgresStatement } from "./define-statement.ts";
import { decodeIdentifier, encodeIdentifier } from "./encode-identifier.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { renderWordQuery, type PostgresTextIndex } from "./postgres-text-index.ts";
import { computeScopeKey } from "./scope-key.ts";
import {
  FIND_TASK_SCOPE,
  LIST_OVERVIEW,
  LIST_OVERVIEW_OF_AGENT,
  LIST_OVERVIEW_OF_CONTEXT,
  LIST_OVERVIEW_OF_SCOPES,
  LIST_OVERVIEW_OF_SCOPES_AND_CONTEXT,
  LIST_OVERVIEW_OF_TEXT,
  type ListOverviewParameters,
  type OverviewRow,
} from "./statements/list-overview.ts";
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

/** Sorts after every status time. */
const END_OF_TIMES = "~";

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
      const [row] = await connection.query(FIND_TASK_SCOPE, [encodeIdentifier(taskId), agent]);
      return row && toScope(row);
    },
  };
}

async function selectOverviewRows(
  connection: PostgresConnection,
  query: TaskOverviewQuery,
): Promise<OverviewRow[]> {
  const { scopes, agent, contextId, status, statusSince = "", statusUntil, after, limit, text } = query;
  const parameters: ListOverviewParameters = [
    status === undefined ? STORED_TASK_STATES : [status],
    statusSince,
    statusUntil ?? END_OF_TIMES,
    after?.timestamp ?? END_OF_TIMES,
    after ? encodeIdentifier(after.taskId) : "",
    limit + 1,
    scopes ? scopes.map(computeScopeKey) : null,
    scopes || agent === undefined ? null : encodeIdentifier(agent),
    contextId === undefined ? null : encodeIdentifier(contextId),
  ];
  if (text === undefined) return connection.query(chooseListStatement(query), parameters);
  const textQuery = parseTextQuery(text);
  // A text without words matches no task.
  if (!textQuery) return [];
  return connection.query(LIST_OVERVIEW_OF_TEXT, [...parameters, renderWordQuery(textQuery)]);
}

/** Returns the statement whose index has the conditions of a query without a text in its first columns. */
export function chooseListStatement({
  scopes,
  agent,
  contextId,
}: Omit<TaskOverviewQuery, "limit">): PostgresStatement<ListOverviewParameters, OverviewRow> {
  if (scopes) return contextId === undefined ? LIST_OVERVIEW_OF_SCOPES : LIST_OVERVIEW_OF_SCOPES_AND_CONTEXT;
  if (contextId !== undefined) return LIST_OVERVIEW_OF_CONTEXT;
  return agent === undefined ? LIST_OVERVIEW : LIST_OVERVIEW_OF_AGENT;
}

function toOverviewEntry(row: OverviewRow): TaskOverviewEntry {
  return {
    scope: toScope(row),
    taskId: decodeIdentifier(row.task_id),
    contextId: decodeIdentifier(row.context_id),
    state: row.state as TaskState,
    timestamp: row.status_time,
    seq: row.seq,
  };
}

function toScope({ tenant, principal, agent }: TaskScope): TaskScope {
  return { tenant: decodeIdentifier(tenant), principal: decodeIdentifier(principal), agent };
}
