import { type LogLines } from "../../logged-events.ts";
import { type PostgresStatement, defineStatement } from "../define-statement.ts";

/**
 * A row of a stored task. The kind decides about the other columns: `task` has the sequence number, the epoch, in
 * `flag` whether the task awaits recovery, and in `text` "other-node" if another living node runs its turn. `page` has a position in a list from 1, and in `flag` whether the page
 * contains the task. `snapshot` has the JSON of the snapshot, and `log` has JSON lines. `queued` has a queued turn, and
 * its position as `seq`.
 */
export interface StoredTaskRow {
  readonly key: number;
  readonly kind: "task" | "page" | "snapshot" | "log" | "queued";
  readonly seq: number;
  readonly text: string | null;
  readonly artifactReferences: string | null;
  readonly epoch: number | null;
  readonly flag: boolean | null;
}

/** Rows of the snapshots and of the later and referenced events of the tasks in `source`, which has a column `key`. */
function renderContentRowsSql(source: string, logCondition = ""): string {
  return `
  SELECT snapshot.task AS key, 'snapshot' AS kind, snapshot.seq, snapshot.json AS text,
    snapshot.artifact_references AS "artifactReferences", NULL::bigint AS epoch, NULL::boolean AS flag
  FROM ${source} JOIN colloquy.snapshot AS snapshot ON snapshot.task = ${source}.key
  UNION ALL
  SELECT log.task, 'log', log.seq, log.lines, NULL, NULL, NULL
  FROM ${source} LEFT JOIN colloquy.snapshot AS snapshot ON snapshot.task = ${source}.key
    JOIN colloquy.log AS log ON log.task = ${source}.key
      AND log.seq > coalesce(snapshot.first_referenced_seq - 1, snapshot.seq, 0) ${logCondition}`;
}

/**
 * Reads a task, its snapshot, its later events, and its queued turns, all from the same committed state. Parameter 3 is
 * the reading node. A task with a running turn awaits recovery if a node has stopped without a release of its lease. A
 * task whose lease is released waits for another node.
 */
export const LOAD_TASK: PostgresStatement<
  readonly [scope: string, taskId: string, node: string],
  StoredTaskRow
> = defineStatement(
  "colloquy_load_task",
  `WITH loaded AS MATERIALIZED (
    SELECT key, seq, epoch, running, lease_node IS NULL OR EXISTS (
        SELECT 1 FROM colloquy.node AS holder
        WHERE holder.id = task.lease_node AND holder.id <> $3::uuid
      ) AS is_held
    FROM colloquy.task AS task WHERE task_id = $2 AND scope = $1::uuid
  )
  SELECT key, 'task' AS kind, seq, CASE WHEN running AND is_held THEN 'other-node' END AS text,
    NULL AS "artifactReferences", epoch, running AND NOT is_held AS flag
  FROM loaded
  UNION ALL
  ${renderContentRowsSql("loaded")}
  UNION ALL
  SELECT queued_turn.task, 'queued', queued_turn.position, queued_turn.json, NULL, NULL, NULL
  FROM loaded JOIN colloquy.queued_turn AS queued_turn ON queued_turn.task = loaded.key`,
);

/**
 * Reads the log rows with the events after `after`. The first row can contain earlier events, so its size does not count
 * for `maxBytes`. `octet_length` does not read the content of a row.
 */
export const READ_EVENTS: PostgresStatement<
  readonly [scope: string, taskId: string, after: number, maxRows: number, maxBytes: number],
  LogLines
> = defineStatement(
  "colloquy_read_events",
  `SELECT seq, lines, committed_at AS "committedAt" FROM (
    SELECT log.seq, log.lines, log.committed_at,
      sum(octet_length(log.lines)) OVER (ORDER BY log.seq) - octet_length(log.lines)
        - first_value(octet_length(log.lines)) OVER (ORDER BY log.seq) AS preceding_bytes
    FROM colloquy.log AS log
    WHERE log.task = (SELECT key FROM colloquy.task WHERE task_id = $2 AND scope = $1::uuid) AND log.seq > $3
    ORDER BY log.seq LIMIT $4
  ) AS page
  WHERE preceding_bytes <= $5 ORDER BY seq`,
);

/** Finds the task of a message. */
export const FIND_MESSAGE: PostgresStatement<
  readonly [scope: string, messageId: string],
  { readonly taskId: string; readonly seq: number }
> = defineStatement(
  "colloquy_find_message",
  `SELECT task.task_id AS "taskId", message.seq
  FROM colloquy.message AS message JOIN colloquy.task AS task ON task.key = message.task
  WHERE message.scope = $1::uuid AND message.message_id = $2`,
);

/** `contextId` is absent in the statements for all contexts. */
type ListTasksParameters = readonly [
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
  SELECT key, 'page' AS kind, position AS seq, NULL AS text, NULL AS "artifactReferences", NULL::bigint AS epoch,
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

/** `contextId` is absent in the statement for all contexts. */
type CountTasksParameters = readonly [
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
