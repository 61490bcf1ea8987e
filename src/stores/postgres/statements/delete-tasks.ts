import { defineStatement, type PostgresStatement } from "../define-statement.ts";
import { TASK_ROW_BYTES } from "./append-batch.ts";

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
