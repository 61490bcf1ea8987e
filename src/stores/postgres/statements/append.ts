import { type PostgresStatement, defineStatement } from "../define-statement.ts";
import { renderRowsSql } from "../row-columns.ts";

/** Bytes that the store counts for the row and the index entries of a task, in addition to its content. */
export const TASK_ROW_BYTES = 400;

/**
 * Columns of the rows that the statements receive. `ordinal` is the position of the append in the batch. `running` is
 * NULL if an append does not change the running turn. `leased` is false if the append releases the lease. `wake_at` is
 * NULL unless the released turn is suspended.
 */
export const APPEND_COLUMNS = {
  messages: { ordinal: "int", scope: "uuid", message_id: "text", seq: "bigint", is_new: "boolean" },
  createdTasks: {
    ordinal: "int",
    scope: "uuid",
    task_id: "text",
    tenant: "text",
    principal: "text",
    agent: "text",
    context_id: "text",
    seq: "bigint",
    state: "text",
    status_time: "text",
    epoch: "bigint",
    running: "boolean",
    leased: "boolean",
  },
  changedTasks: {
    ordinal: "int",
    scope: "uuid",
    task_id: "text",
    expected_seq: "bigint",
    seq: "bigint",
    state: "text",
    status_time: "text",
    epoch: "bigint",
    new_epoch: "bigint",
    running: "boolean",
    leased: "boolean",
    wake_at: "timestamptz",
  },
  logRows: {
    ordinal: "int",
    seq: "bigint",
    lines: "json",
    has_only_artifacts: "boolean",
    committed_at: "bigint",
  },
  snapshots: {
    ordinal: "int",
    seq: "bigint",
    json: "json",
    artifact_references: "json",
    first_referenced_seq: "bigint",
  },
  /** `json` is NULL if the append deletes the stored turn and all stored steps of the task. */
  turns: { ordinal: "int", json: "json" },
  steps: { ordinal: "int", turn_seq: "bigint", key: "text", json: "json" },
  queuedTurns: { ordinal: "int", position: "bigint", json: "json" },
  dequeuedTurns: { ordinal: "int", through: "bigint" },
  webhooks: {
    ordinal: "int",
    position: "int",
    scope: "uuid",
    after: "bigint",
    seq: "bigint",
    has_ended: "boolean",
    leased: "boolean",
    id: "text",
    config: "json",
    version: "text",
  },
} as const;

type AppendSection = keyof typeof APPEND_COLUMNS;

/** Sections of appends with events and messages only. */
export const EVENT_SECTIONS: readonly AppendSection[] = [
  "messages",
  "createdTasks",
  "changedTasks",
  "logRows",
];
/** Sections that only some appends have. */
export const OTHER_SECTIONS: readonly AppendSection[] = [
  "snapshots",
  "turns",
  "steps",
  "queuedTurns",
  "dequeuedTurns",
  "webhooks",
];
const ALL_SECTIONS = [...EVENT_SECTIONS, ...OTHER_SECTIONS];

interface AppendBatchRow {
  /** Ordinals of the stored appends. */
  readonly written: readonly number[] | null;
  /** Ordinals of the appends with a message that the store has already. */
  readonly duplicates: readonly number[] | null;
}

/** The node, the row of `stored_size` to change, and the arrays of all sections in order. */
type AppendBatchParameters = readonly [node: string, sizeShard: number, ...arrays: unknown[]];

/** Returns the table expression of a section. Parameters 1 and 2 precede the sections. */
function renderSectionSql(section: AppendSection): string {
  const preceding = ALL_SECTIONS.slice(0, ALL_SECTIONS.indexOf(section));
  const count = preceding.reduce((sum, name) => sum + Object.keys(APPEND_COLUMNS[name]).length, 0);
  return renderRowsSql(APPEND_COLUMNS[section], 3 + count);
}

/**
 * Accepts an append if its task has the expected `seq` and `epoch`, no other node runs its turn, and its messages are
 * new. All rows of an accepted append are written, and no row of a refused append.
 */
const COMPARE_AND_SET_SQL = `
  new_message AS MATERIALIZED (SELECT * FROM ${renderSectionSql("messages")}),
  duplicate AS MATERIALIZED (
    SELECT given.ordinal FROM new_message AS given
      JOIN colloquy.message AS known ON known.scope = given.scope AND known.message_id = given.message_id
    WHERE given.is_new
  ),
  created AS MATERIALIZED (
    SELECT nextval('colloquy.task_key_seq') AS key, given.* FROM ${renderSectionSql("createdTasks")}
    WHERE given.ordinal NOT IN (SELECT ordinal FROM duplicate)
      AND NOT EXISTS (
        SELECT 1 FROM colloquy.task AS known WHERE known.task_id = given.task_id AND known.scope = given.scope
      )
  ),
  inserted_task AS (
    INSERT INTO colloquy.task
      (key, scope, task_id, tenant, principal, agent, context_id, seq, state, status_time, epoch, running, lease_node)
    SELECT key, scope, task_id, tenant, principal, agent, context_id, seq, state, status_time, epoch, running,
      CASE WHEN running AND leased THEN $1::uuid END
    FROM created
  ),
  changed AS (
    UPDATE colloquy.task AS task
    SET seq = given.seq, epoch = given.new_epoch, state = given.state, status_time = given.status_time,
      running = coalesce(given.running, task.running),
      lease_node = CASE WHEN coalesce(given.running, task.running) AND given.leased THEN $1::uuid END,
      wake_at = coalesce(given.wake_at, '-infinity')
    FROM ${renderSectionSql("changedTasks")}
    WHERE task.task_id = given.task_id AND task.scope = given.scope
      AND task.seq = given.expected_seq AND task.epoch = given.epoch
      AND (NOT task.running OR task.lease_node = $1::uuid)
      AND given.ordinal NOT IN (SELECT ordinal FROM duplicate)
    RETURNING given.ordinal, task.key, task.running
  ),
  written AS MATERIALIZED (
    SELECT ordinal, key, running FROM created UNION ALL SELECT ordinal, key, running FROM changed
  ),
  inserted_log AS (
    INSERT INTO colloquy.log (task, seq, lines, has_only_artifacts, committed_at)
    SELECT written.key, given.seq, given.lines, given.has_only_artifacts, given.committed_at
    FROM ${renderSectionSql("logRows")} JOIN written ON written.ordinal = given.ordinal
    RETURNING octet_length(lines) AS bytes
  ),
  inserted_message AS (
    INSERT INTO colloquy.message (scope, message_id, task, seq)
    SELECT given.scope, given.message_id, written.key, given.seq
    FROM new_message AS given JOIN written ON written.ordinal = given.ordinal
    WHERE given.is_new
  ),
  begun_message AS (
    UPDATE colloquy.message AS message SET seq = given.seq
    FROM new_message AS given JOIN written ON written.ordinal = given.ordinal
    WHERE message.scope = given.scope AND message.message_id = given.message_id AND NOT given.is_new
  )`;

/** Writes the rows that only some appends have. */
const WRITE_OTHER_ROWS_SQL = `
  new_snapshot AS MATERIALIZED (
    SELECT written.key, given.*, octet_length(given.json) - coalesce(octet_length(replaced.json), 0) AS growth
    FROM ${renderSectionSql("snapshots")} JOIN written ON written.ordinal = given.ordinal
      LEFT JOIN colloquy.snapshot AS replaced ON replaced.task = written.key
  ),
  upserted_snapshot AS (
    INSERT INTO colloquy.snapshot (task, seq, json, artifact_references, first_referenced_seq)
    SELECT key, seq, json, artifact_references, first_referenced_seq FROM new_snapshot
    ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, json = excluded.json,
      artifact_references = excluded.artifact_references, first_referenced_seq = excluded.first_referenced_seq
  ),
  new_turn AS MATERIALIZED (
    SELECT written.key, given.json FROM ${renderSectionSql("turns")} JOIN written ON written.ordinal = given.ordinal
  ),
  upserted_turn AS (
    INSERT INTO colloquy.turn (task, json) SELECT key, json FROM new_turn WHERE json IS NOT NULL
    ON CONFLICT (task) DO UPDATE SET json = excluded.json
  ),
  deleted_turn AS (
    DELETE FROM colloquy.turn AS turn USING new_turn WHERE turn.task = new_turn.key AND new_turn.json IS NULL
  ),
  upserted_step AS (
    INSERT INTO colloquy.finished_step (task, turn_seq, key, json)
    SELECT written.key, given.turn_seq, given.key, given.json
    FROM ${renderSectionSql("steps")} JOIN written ON written.ordinal = given.ordinal
    ON CONFLICT (task, turn_seq, key) DO UPDATE SET json = excluded.json
  ),
  deleted_step AS (
    DELETE FROM colloquy.finished_step AS step USING new_turn WHERE step.task = new_turn.key AND new_turn.json IS NULL
  ),
  queued AS (
    INSERT INTO colloquy.queued_turn (task, position, json)
    SELECT written.key, given.position, given.json
    FROM ${renderSectionSql("queuedTurns")} JOIN written ON written.ordinal = given.ordinal
    ON CONFLICT (task, position) DO UPDATE SET json = excluded.json
  ),
  dequeued AS (
    DELETE FROM colloquy.queued_turn AS queued_turn
    USING ${renderSectionSql("dequeuedTurns")} JOIN written ON written.ordinal = given.ordinal
    WHERE queued_turn.task = written.key AND queued_turn.position <= given.through
  ),
  registered_webhook AS (
    INSERT INTO colloquy.push AS push (scope, task, id, config, version, delivered, owing, lease_node)
    SELECT given.scope, written.key, given.id, given.config, given.version, given.after,
      NOT given.has_ended OR coalesce(replaced.delivered, given.after) < given.seq,
      CASE WHEN given.leased THEN $1::uuid END
    FROM ${renderSectionSql("webhooks")} JOIN written ON written.ordinal = given.ordinal
      LEFT JOIN colloquy.push AS replaced ON replaced.task = written.key AND replaced.id = given.id
    ORDER BY given.ordinal, given.position
    ON CONFLICT (task, id) DO UPDATE SET config = excluded.config, version = excluded.version,
      owing = excluded.owing, failing_since = NULL, failed_attempts = 0, due_at = 0, dead_at = NULL, dead_reason = NULL,
      lease_node = excluded.lease_node
  )`;

/** Queues the tasks without a running turn for the text index. */
const QUEUE_TEXT_SQL = `
  queued_text AS (
    INSERT INTO colloquy.task_text_queue (node, task) SELECT $1::uuid, key FROM written WHERE NOT running
  )`;

/** Adds the size of the written content to one row, and returns the outcome of the batch. */
function renderOutcomeSql(snapshotGrowth: string): string {
  return `
  growth AS (
    UPDATE colloquy.stored_size SET bytes = bytes
      + (SELECT coalesce(sum(bytes), 0) FROM inserted_log)
      + (SELECT ${TASK_ROW_BYTES} * count(*) FROM created)
      + ${snapshotGrowth}
    WHERE shard = $2
  )
SELECT (SELECT array_agg(ordinal) FROM written) AS written,
  (SELECT array_agg(ordinal) FROM duplicate) AS duplicates`;
}

const EVENTS_OUTCOME_SQL = renderOutcomeSql("0");
const BATCH_OUTCOME_SQL = renderOutcomeSql("(SELECT coalesce(sum(growth), 0) FROM new_snapshot)");

type AppendStatement = PostgresStatement<AppendBatchParameters, AppendBatchRow>;

/** Commits a batch of appends with events and messages only. */
export const APPEND_EVENTS: AppendStatement = defineStatement(
  "colloquy_append_events",
  `WITH${COMPARE_AND_SET_SQL},${EVENTS_OUTCOME_SQL}`,
);

/**
 * Commits a batch of appends. If another node stores the same new task or message at the same time, the statement fails
 * with a unique violation, and its repetition refuses the append.
 */
export const APPEND_BATCH: AppendStatement = defineStatement(
  "colloquy_append_batch",
  `WITH${COMPARE_AND_SET_SQL},${WRITE_OTHER_ROWS_SQL},${BATCH_OUTCOME_SQL}`,
);

/** `APPEND_EVENTS` for stores that search text. */
export const APPEND_EVENTS_AND_QUEUE_TEXT: AppendStatement = defineStatement(
  "colloquy_append_events_and_queue_text",
  `WITH${COMPARE_AND_SET_SQL},${QUEUE_TEXT_SQL},${EVENTS_OUTCOME_SQL}`,
);

/** `APPEND_BATCH` for stores that search text. */
export const APPEND_BATCH_AND_QUEUE_TEXT: AppendStatement = defineStatement(
  "colloquy_append_batch_and_queue_text",
  `WITH${COMPARE_AND_SET_SQL},${WRITE_OTHER_ROWS_SQL},${QUEUE_TEXT_SQL},${BATCH_OUTCOME_SQL}`,
);
