import type { TaskOverview, TaskOverviewEntry, TaskScope } from "../../engine/index.ts";
import type { TaskState } from "../../protocol/index.ts";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { defineStatement, type PostgresStatement } from "./define-statement.ts";
import { decodeIdentifier, encodeIdentifier } from "./encode-identifier.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { computeScopeKey } from "./scope-key.ts";
import {
  FIND_TASK_SCOPE,
  LIST_OVERVIEW,
  LIST_OVERVIEW_OF_SCOPES,
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
export function createPostgresTaskOverview(connection: PostgresConnection): TaskOverview {
  return {
    searchesText: false,
    prepareForAllCallers: async () => void (await connection.query(CREATE_OVERVIEW_INDEX, [])),
    list: async (query) => {
      const { scopes, agent, contextId, status, statusSince = "", statusUntil, after, limit } = query;
      const rows = await connection.query(scopes ? LIST_OVERVIEW_OF_SCOPES : LIST_OVERVIEW, [
        status === undefined ? STORED_TASK_STATES : [status],
        statusSince,
        statusUntil ?? END_OF_TIMES,
        after?.timestamp ?? END_OF_TIMES,
        after ? encodeIdentifier(after.taskId) : "",
        limit + 1,
        scopes ? scopes.map(computeScopeKey) : null,
        scopes || agent === undefined ? null : agent,
        contextId === undefined ? null : encodeIdentifier(contextId),
      ]);
      return { tasks: rows.slice(0, limit).map(toOverviewEntry), hasMore: rows.length > limit };
    },
    findScope: async (agent, taskId) => {
      const [row] = await connection.query(FIND_TASK_SCOPE, [encodeIdentifier(taskId), agent]);
      return row && toScope(row);
    },
  };
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
