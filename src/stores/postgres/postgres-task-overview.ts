import type { TaskOverview, TaskOverviewEntry, TaskOverviewQuery, TaskScope } from "../../engine/index.ts";
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
  LIST_OVERVIEW_OF_SCOPES,
  LIST_OVERVIEW_OF_TEXT,
  type ListOverviewParameters,
  type OverviewRow,
} from "./statements/list-overview.ts";

/** Index for lists of the tasks of all callers. Only servers with operators create it, without blocking commits. */
const CREATE_OVERVIEW_INDEX: PostgresStatement<readonly [], never> = defineStatement(
  "colloquy_create_overview_index",
  "CREATE INDEX CONCURRENTLY IF NOT EXISTS task_overview ON colloquy.task (state, status_time, task_id)",
);

/** Sorts after every status time. */
const END_OF_TIMES = "~";

/** Creates the overview of a PostgreSQL store. */
export function createPostgresTaskOverview(
  connection: PostgresConnection,
  textIndex: PostgresTextIndex,
): TaskOverview {
  return {
    get searchesText() {
      return textIndex.isStarted;
    },
    startTextIndex: async () => textIndex.start(),
    prepareForAllCallers: async () => void (await connection.query(CREATE_OVERVIEW_INDEX, [])),
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
    scopes || agent === undefined ? null : agent,
    contextId === undefined ? null : encodeIdentifier(contextId),
  ];
  if (text === undefined)
    return connection.query(scopes ? LIST_OVERVIEW_OF_SCOPES : LIST_OVERVIEW, parameters);
  const textQuery = parseTextQuery(text);
  // A text without words matches no task.
  if (!textQuery) return [];
  return connection.query(LIST_OVERVIEW_OF_TEXT, [...parameters, renderWordQuery(textQuery)]);
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
