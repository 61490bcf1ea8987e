import { defineStatement, type PostgresStatement } from "../define-statement.ts";
import { renderContentRowsSql, type StoredTaskRow } from "./load-task.ts";

/** `contextId` is absent in the statements for all contexts. */
export type ListTasksParameters = readonly [
  scope: string,
  states: readonly string[],
  since: string,
  afterTime: string,
  afterTaskId: string,
  limit: number,
  maxBytes: number,
  includeArtifacts: boolean,
  contextId?: string,
];

/**
 * Reads a page of tasks with their content, all from the same committed state. A page has at most `limit` tasks of
 * together at most `maxBytes`, but at least one task. One index range per state is read, because the indexes sort by
 * state before time. A row comparison is one index range. The equivalent expression with OR would scan the index.
 */
function renderListSql(contextCondition: string): string {
  return `WITH candidate AS MATERIALIZED (
    SELECT task.key, row_number() OVER (ORDER BY task.status_time DESC, task.task_id DESC) AS position
    FROM unnest($2::text[]) AS wanted (state) CROSS JOIN LATERAL (
      SELECT key, status_time, task_id FROM colloquy.task
      WHERE scope = $1::uuid AND state = wanted.state AND status_time >= $3 AND (status_time, task_id) < ($4, $5)
        ${contextCondition}
      ORDER BY status_time DESC, task_id DESC LIMIT $6::int + 1
    ) AS task
    ORDER BY task.status_time DESC, task.task_id DESC LIMIT $6::int + 1
  ),
  sized AS MATERIALIZED (
    SELECT candidate.key, candidate.position, coalesce(octet_length(snapshot.json), 0) + coalesce((
        SELECT sum(octet_length(log.lines)) FROM colloquy.log AS log
        WHERE log.task = candidate.key AND log.seq > coalesce(snapshot.first_referenced_seq - 1, snapshot.seq, 0)
          AND ($8::boolean OR NOT log.has_only_artifacts)
      ), 0) AS bytes
    FROM candidate LEFT JOIN colloquy.snapshot AS snapshot ON snapshot.task = candidate.key
  ),
  listed AS MATERIALIZED (
    SELECT key, position,
      position <= $6::int AND (position = 1 OR sum(bytes) OVER (ORDER BY position) <= $7::bigint) AS is_shown
    FROM sized
  ),
  shown AS MATERIALIZED (SELECT key FROM listed WHERE is_shown)
  SELECT key, 'page' AS kind, position AS seq, NULL AS text, NULL AS artifact_references, NULL::bigint AS epoch,
    is_shown AS flag
  FROM listed
  UNION ALL
  ${renderContentRowsSql("shown", "AND ($8::boolean OR NOT log.has_only_artifacts)")}`;
}

export const LIST_TASKS: PostgresStatement<ListTasksParameters, StoredTaskRow> = defineStatement(
  "colloquy_list_tasks",
  renderListSql(""),
);

export const LIST_TASKS_OF_CONTEXT: PostgresStatement<ListTasksParameters, StoredTaskRow> = defineStatement(
  "colloquy_list_tasks_of_context",
  renderListSql("AND context_id = $9"),
);
