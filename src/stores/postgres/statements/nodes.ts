import type { TaskScope } from "../../../engine/index.ts";
import { type PostgresStatement, defineStatement } from "../define-statement.ts";

/** Stores a request for the node that runs the turn of a task. Returns no row if the task has no running turn. */
export const INSERT_TASK_REQUEST: PostgresStatement<
  readonly [id: string, scope: string, taskId: string, kind: string, payload: string, timeoutMs: number],
  { readonly id: string }
> = defineStatement(
  "colloquy_insert_task_request",
  `INSERT INTO colloquy.task_request (id, task, kind, payload, expires_at)
  SELECT $1::uuid, task.key, $4, $5, now() + $6::int * interval '1 millisecond'
  FROM colloquy.task AS task WHERE task.task_id = $3 AND task.scope = $2::uuid
    AND (task.running OR EXISTS (SELECT 1 FROM colloquy.queued_turn AS queued_turn WHERE queued_turn.task = task.key))
  RETURNING id`,
);

export interface TaskRequestRow extends TaskScope {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  readonly taskId: string;
}

/** Takes the unanswered requests for the tasks whose lease a node holds. Each lease takes a request once. */
export const TAKE_TASK_REQUESTS: PostgresStatement<readonly [node: string], TaskRequestRow> = defineStatement(
  "colloquy_take_task_requests",
  `UPDATE colloquy.task_request AS request SET taken_epoch = task.epoch
  FROM colloquy.task AS task
  WHERE request.task = task.key AND request.answer IS NULL AND request.expires_at > now()
    AND task.lease_node = $1::uuid AND (request.taken_epoch IS NULL OR request.taken_epoch <> task.epoch)
  RETURNING request.id, request.kind, request.payload, task.tenant, task.principal, task.agent,
    task.task_id AS "taskId"`,
);

/** Returns a taken request, so that the node with the lease can take it again. */
export const RETURN_TASK_REQUEST: PostgresStatement<readonly [id: string], never> = defineStatement(
  "colloquy_return_task_request",
  `UPDATE colloquy.task_request SET taken_epoch = NULL WHERE id = $1::uuid`,
);

/** Stores the answer to a request. */
export const ANSWER_TASK_REQUEST: PostgresStatement<readonly [id: string, answer: string], never> =
  defineStatement(
    "colloquy_answer_task_request",
    `UPDATE colloquy.task_request SET answer = $2 WHERE id = $1::uuid`,
  );

/** Deletes the answered requests among the given requests, and returns their answers. */
export const TAKE_TASK_ANSWERS: PostgresStatement<
  readonly [ids: readonly string[]],
  { readonly id: string; readonly answer: string }
> = defineStatement(
  "colloquy_take_task_answers",
  `DELETE FROM colloquy.task_request WHERE id = ANY ($1::uuid[]) AND answer IS NOT NULL RETURNING id, answer`,
);

/** Deletes a request whose sender no longer waits. */
export const DELETE_TASK_REQUEST: PostgresStatement<readonly [id: string], never> = defineStatement(
  "colloquy_delete_task_request",
  `DELETE FROM colloquy.task_request WHERE id = $1::uuid`,
);

/** A row of a changed task. A task with several new log rows has several rows, and a deleted task has no `last_seq`. */
export interface ChangedTaskRow {
  /** Position of the task in the arrays, from 1. */
  readonly position: number;
  readonly last_seq: number | null;
  readonly turn_status: string;
  readonly seq: number | null;
  readonly lines: string | null;
}

/**
 * Returns the turn status of a row of `task`. A turn is lost if a node has stopped without a release of its lease. A turn
 * whose lease is released waits for a node that starts agents.
 */
const TURN_STATUS_SQL = `CASE
      WHEN task.running AND (task.lease_node IS NULL OR EXISTS (
        SELECT 1 FROM colloquy.node AS holder WHERE holder.id = task.lease_node
      )) THEN 'running'
      WHEN task.running THEN 'awaiting-recovery'
      WHEN EXISTS (SELECT 1 FROM colloquy.queued_turn AS queued_turn WHERE queued_turn.task = task.key) THEN 'running'
      ELSE 'none'
    END`;

/**
 * Reads the new log rows of the tasks whose log or turn status has changed. The log rows of each task end as soon as
 * their size exceeds parameter 5. The first row of a task does not count.
 */
export const READ_CHANGES: PostgresStatement<
  readonly [
    scopes: readonly string[],
    taskIds: readonly string[],
    after: readonly number[],
    turnStatuses: readonly string[],
    maxBytes: number,
  ],
  ChangedTaskRow
> = defineStatement(
  "colloquy_read_changes",
  `WITH followed AS MATERIALIZED (
    SELECT given.position, given.after, given.turn_status AS known_status, task.key, task.seq AS last_seq,
      ${TURN_STATUS_SQL} AS turn_status
    FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[])
        WITH ORDINALITY AS given (scope, task_id, after, turn_status, position)
      LEFT JOIN colloquy.task AS task ON task.task_id = given.task_id AND task.scope = given.scope
  )
  SELECT followed.position, followed.last_seq, followed.turn_status, page.seq, page.lines
  FROM followed LEFT JOIN LATERAL (
    SELECT sized.seq, sized.lines FROM (
      SELECT log.seq, log.lines, row_number() OVER (ORDER BY log.seq) AS row_position,
        sum(octet_length(log.lines)) OVER (ORDER BY log.seq) - octet_length(log.lines) AS preceding_bytes
      FROM colloquy.log AS log WHERE log.task = followed.key AND log.seq > followed.after
      ORDER BY log.seq LIMIT 512
    ) AS sized WHERE sized.row_position = 1 OR sized.preceding_bytes <= $5::bigint
  ) AS page ON true
  WHERE followed.key IS NULL OR followed.last_seq <> followed.after OR followed.turn_status <> followed.known_status
  ORDER BY followed.position, page.seq`,
);
