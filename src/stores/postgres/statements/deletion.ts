import type { SweepClockRecord } from "../../task-deletion-store.ts";
import type { DeletableTaskRow } from "../../stored-rows.ts";
import { type PostgresStatement, defineStatement } from "../define-statement.ts";
import { TASK_ROW_BYTES } from "./append.ts";

const SELECT_DELETABLE_TASKS = `
  SELECT key, tenant, principal, agent, task_id AS "taskId", state, status_time AS timestamp,
    EXISTS (SELECT 1 FROM colloquy.log AS log WHERE log.task = task.key) AS "hasEvents",
    EXISTS (SELECT 1 FROM colloquy.push AS push WHERE push.task = task.key AND push.owing) AS "hasPendingWebhooks"
  FROM colloquy.task AS task`;

type StoppedTasksStatement = PostgresStatement<
  readonly [before: string, afterTime: string, afterKey: number, limit: number],
  DeletableTaskRow
>;

/** The states must be those of a partial index, so that the query reads only the page. */
function defineStoppedTasksStatement(name: string, states: string): StoppedTasksStatement {
  return defineStatement(
    name,
    `${SELECT_DELETABLE_TASKS}
  WHERE state IN (${states}) AND status_time < $1 AND (status_time, key) > ($2, $3::bigint)
  ORDER BY status_time, key LIMIT $4`,
  );
}

export const LIST_ENDED_TASKS: StoppedTasksStatement = defineStoppedTasksStatement(
  "colloquy_list_ended_tasks",
  "'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'",
);

export const LIST_WAITING_TASKS: StoppedTasksStatement = defineStoppedTasksStatement(
  "colloquy_list_waiting_tasks",
  "'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'",
);

/** Columns that can select tasks. */
type SelectorColumn = "task_id" | "context_id" | "principal" | "tenant" | "agent";

/**
 * Returns the statement that finds tasks in any state by the values of the columns. The last parameter is the maximum
 * number of tasks. Without a task id, the statement reads all tasks.
 */
export function createMatchingTasksStatement(
  columns: readonly SelectorColumn[],
): PostgresStatement<readonly (string | number)[], DeletableTaskRow> {
  const conditions = columns.map((column, at) => `${column} = $${at + 1}`);
  return defineStatement(
    `colloquy_find_tasks_by_${columns.join("_")}`,
    `${SELECT_DELETABLE_TASKS} WHERE ${conditions.join(" AND ")} LIMIT $${columns.length + 1}`,
  );
}

/** Number of events of each task whose log rows the statement deletes. */
const DELETED_EVENTS_PER_TASK = 16;

/**
 * Deletes tasks. Of a long log, the statement deletes only the first rows, and `deleteRemnants` deletes the others. A
 * task whose state or status time has changed is kept, unless parameter 5 is true. Parameter 4 is the row of
 * `stored_size` to change.
 */
export const DELETE_TASKS: PostgresStatement<
  readonly [
    keys: readonly number[],
    states: readonly string[],
    statusTimes: readonly string[],
    sizeShard: number,
    deletesChangedTasks: boolean,
  ],
  never
> = defineStatement(
  "colloquy_delete_tasks",
  `WITH deleted AS (
    DELETE FROM colloquy.task AS task
    USING unnest($1::bigint[], $2::text[], $3::text[]) AS given (key, state, status_time)
    WHERE task.key = given.key
      AND ($5::boolean OR (task.state = given.state AND task.status_time = given.status_time))
    RETURNING task.key, task.seq
  ),
  deleted_snapshot AS (
    DELETE FROM colloquy.snapshot AS snapshot USING deleted WHERE snapshot.task = deleted.key
    RETURNING octet_length(snapshot.json) AS bytes
  ),
  deleted_turn AS (DELETE FROM colloquy.turn AS turn USING deleted WHERE turn.task = deleted.key),
  deleted_step AS (DELETE FROM colloquy.finished_step AS step USING deleted WHERE step.task = deleted.key),
  deleted_queue AS (DELETE FROM colloquy.queued_turn AS queued USING deleted WHERE queued.task = deleted.key),
  deleted_push AS (DELETE FROM colloquy.push AS push USING deleted WHERE push.task = deleted.key),
  deleted_message AS (DELETE FROM colloquy.message AS message USING deleted WHERE message.task = deleted.key),
  deleted_log AS (
    DELETE FROM colloquy.log AS log USING deleted
    WHERE log.task = deleted.key AND log.seq <= ${DELETED_EVENTS_PER_TASK}
    RETURNING octet_length(log.lines) AS bytes
  ),
  remnant AS (
    INSERT INTO colloquy.deleted_task (key) SELECT key FROM deleted WHERE seq > ${DELETED_EVENTS_PER_TASK}
  )
  UPDATE colloquy.stored_size SET bytes = bytes - ${TASK_ROW_BYTES} * (SELECT count(*) FROM deleted)
    - (SELECT coalesce(sum(bytes), 0) FROM deleted_snapshot) - (SELECT coalesce(sum(bytes), 0) FROM deleted_log)
  WHERE shard = $4`,
);

/**
 * Deletes the oldest log rows of a task up to the event `throughSeq`, at most `limit` rows. Returns the number of
 * deleted rows. Parameter 4 is the row of `stored_size` to change.
 */
export const DELETE_LOG_ROWS: PostgresStatement<
  readonly [key: number, throughSeq: number, limit: number, sizeShard: number],
  { readonly count: number }
> = defineStatement(
  "colloquy_delete_log_rows",
  `WITH deleted AS (
    DELETE FROM colloquy.log WHERE task = $1 AND seq <= (
      SELECT max(seq) FROM (
        SELECT seq FROM colloquy.log WHERE task = $1 AND seq <= $2 ORDER BY seq LIMIT $3
      ) AS oldest
    )
    RETURNING octet_length(lines) AS bytes
  ),
  growth AS (
    UPDATE colloquy.stored_size SET bytes = bytes - (SELECT coalesce(sum(bytes), 0) FROM deleted) WHERE shard = $4
  )
  SELECT count(*) AS count FROM deleted`,
);

/** Finds a deleted task whose log can still have rows. */
export const FIND_REMNANT: PostgresStatement<readonly [], { readonly key: number }> = defineStatement(
  "colloquy_find_remnant",
  "SELECT key FROM colloquy.deleted_task LIMIT 1",
);

/** Forgets a deleted task without log rows. */
export const FORGET_REMNANT: PostgresStatement<readonly [key: number], never> = defineStatement(
  "colloquy_forget_remnant",
  "DELETE FROM colloquy.deleted_task WHERE key = $1",
);

/** Reads how far the snapshot of a task covers its events, and the bytes of the snapshot and of the later events. */
export const READ_EVENT_COVERAGE: PostgresStatement<
  readonly [key: number],
  {
    readonly seq: number;
    readonly covered_seq: number;
    readonly first_referenced_seq: number | null;
    readonly bytes: number;
  }
> = defineStatement(
  "colloquy_read_event_coverage",
  `SELECT task.seq, coalesce(snapshot.seq, 0) AS covered_seq, snapshot.first_referenced_seq,
    coalesce(octet_length(snapshot.json), 0) + coalesce((
      SELECT sum(octet_length(lines)) FROM colloquy.log AS log
      WHERE log.task = task.key AND log.seq > coalesce(snapshot.seq, 0)
    ), 0) AS bytes
  FROM colloquy.task AS task LEFT JOIN colloquy.snapshot AS snapshot ON snapshot.task = task.key
  WHERE task.key = $1`,
);

/** Stores a complete snapshot of a task after the event `seq`, unless the task has newer events. */
export const COVER_EVENTS: PostgresStatement<
  readonly [key: number, seq: number, json: string, sizeShard: number],
  { readonly key: number }
> = defineStatement(
  "colloquy_cover_events",
  `WITH covered AS MATERIALIZED (
    SELECT task.key, coalesce(octet_length(replaced.json), 0) AS replaced_bytes
    FROM colloquy.task AS task LEFT JOIN colloquy.snapshot AS replaced ON replaced.task = task.key
    WHERE task.key = $1 AND task.seq = $2
  ),
  upserted AS (
    INSERT INTO colloquy.snapshot (task, seq, json) SELECT key, $2, $3 FROM covered
    ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, json = excluded.json, artifact_references = NULL,
      first_referenced_seq = NULL
  ),
  growth AS (
    UPDATE colloquy.stored_size
    SET bytes = bytes + (SELECT coalesce(sum(octet_length($3) - replaced_bytes), 0) FROM covered) WHERE shard = $4
  )
  SELECT key FROM covered`,
);

/** Returns the bytes of all stored content. */
export const MEASURE_SIZE: PostgresStatement<readonly [], { readonly bytes: number }> = defineStatement(
  "colloquy_measure_size",
  "SELECT sum(bytes)::bigint AS bytes FROM colloquy.stored_size",
);

/** Time of the database's clock in milliseconds since 1970, and the record, which is NULL before the first sweep. */
type SweepClockRow = { readonly nowMs: number } & {
  readonly [Member in keyof SweepClockRecord]: SweepClockRecord[Member] | null;
};

/** Reads the clock of the database, and the record of the last sweep. */
export const READ_SWEEP_CLOCK: PostgresStatement<readonly [], SweepClockRow> = defineStatement(
  "colloquy_read_sweep_clock",
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs", wall_ms AS "wallMs", ahead_ms AS "aheadMs",
    delayed_ms AS "delayedMs", was_set_back AS "wasSetBack"
  FROM (VALUES (1)) AS one (id) LEFT JOIN colloquy.sweep_clock AS clock ON clock.id = one.id`,
);

/** Replaces the record of the last sweep. */
export const WRITE_SWEEP_CLOCK: PostgresStatement<
  readonly [wallMs: number, aheadMs: number, delayedMs: number, wasSetBack: boolean],
  never
> = defineStatement(
  "colloquy_write_sweep_clock",
  `INSERT INTO colloquy.sweep_clock (id, wall_ms, ahead_ms, delayed_ms, was_set_back)
  VALUES (1, $1::bigint, $2::bigint, $3::bigint, $4::boolean)
  ON CONFLICT (id) DO UPDATE SET wall_ms = excluded.wall_ms, ahead_ms = excluded.ahead_ms,
    delayed_ms = excluded.delayed_ms, was_set_back = excluded.was_set_back`,
);
