/**
 * Scopes and tasks have small integer keys, so that the rows of other tables and the indexes stay small. Each
 * row of `log` contains the events of one append as JSON lines. In each row, `seq` is the sequence number of
 * the append's last event, `committed_at` is the time of the append in milliseconds since 1970, and `has_only_artifacts` is 1 if a list without artifacts skips the row. SQLite stores 0
 * and 1 in the header of a row, and therefore skips such a row without reading its content. Snapshots have a separate
 * table, because every append would otherwise rewrite the snapshot of its task. The decision
 * docs/decisions/008-sqlite-layout.md explains the layout of the tables.
 *
 * `running` is 1 from the append that begins a turn to the append that ends the turn, whatever the state of the task.
 * `epoch` is the number of claims. The indexes sort by state before time, so that a list with or without a state reads
 * only the index entries of its page. A task with a running turn is in `task_running` instead of the other indexes, so
 * that the start of a turn changes few pages. The conditions of the indexes are cheap, because SQLite
 * evaluates them for each append. For a condition with IN, SQLite builds a table in memory each time. `task_stopped`
 * lists the tasks of all callers, for retention and for operators.
 *
 * `artifact_references` contains the references of a snapshot to artifact content in the log, as JSON. The restored task
 * needs the log rows from `first_referenced_seq` on. Both columns are NULL for a snapshot with all content.
 */
const CREATE_TASK_TABLES_SQL = `
  CREATE TABLE scope (
    key INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    agent TEXT NOT NULL,
    UNIQUE (tenant, principal, agent)
  );
  CREATE TABLE task (
    key INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    context_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    running INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, task_id)
  );
  CREATE INDEX task_by_state ON task (scope, state, timestamp, task_id) WHERE running = 0;
  CREATE INDEX task_by_context ON task (scope, context_id, state, timestamp, task_id) WHERE running = 0;
  CREATE INDEX task_running ON task (scope, state, timestamp, task_id, context_id) WHERE running = 1;
  CREATE INDEX task_stopped ON task (state, timestamp, scope) WHERE running = 0;
  CREATE TABLE task_count (
    scope INTEGER NOT NULL,
    state INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, state)
  ) WITHOUT ROWID;
  CREATE TABLE log (
    task INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    lines TEXT NOT NULL,
    has_only_artifacts INTEGER NOT NULL DEFAULT 0,
    committed_at INTEGER NOT NULL,
    PRIMARY KEY (task, seq)
  );
  CREATE TABLE snapshot (
    task INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    json TEXT NOT NULL,
    artifact_references TEXT,
    first_referenced_seq INTEGER
  );
  CREATE TABLE message (
    scope INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    task INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, message_id)
  ) WITHOUT ROWID;
  CREATE INDEX message_task ON message (task);
`;

/**
 * `turn` contains the requests of running turns that a server can start again after a restart, and `finished_step` the
 * results of their finished steps. For most agents, both tables are empty. `queued_turn` contains the messages that wait
 * for the current turn of their task. The row of a queued message in `message` has `seq` 0 until the message's turn
 * begins. `deleted_task` contains the keys of deleted tasks whose log still has rows, because a long log is deleted in
 * several transactions.
 */
const CREATE_TURN_TABLES_SQL = `
  CREATE TABLE turn (
    task INTEGER PRIMARY KEY,
    json TEXT NOT NULL
  );
  CREATE TABLE finished_step (
    task INTEGER NOT NULL,
    turn_seq INTEGER NOT NULL,
    key TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (task, turn_seq, key)
  );
  CREATE TABLE queued_turn (
    task INTEGER NOT NULL,
    position INTEGER NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (task, position)
  );
  CREATE TABLE deleted_task (key INTEGER PRIMARY KEY);
`;

/**
 * Webhooks. `owing` is 1 while the webhook needs deliveries, and 0 after delivery has ended or has stopped
 * permanently. The query at start-up uses a partial index that excludes finished webhooks, which are the
 * majority. `scope` counts the webhooks of a caller that need deliveries. AUTOINCREMENT prevents the reuse of webhook
 * keys.
 */
const CREATE_PUSH_TABLES_SQL = `
  CREATE TABLE push (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL,
    id TEXT NOT NULL,
    config TEXT NOT NULL,
    version TEXT NOT NULL,
    delivered INTEGER NOT NULL,
    owing INTEGER NOT NULL,
    failing_since INTEGER,
    dead_at INTEGER,
    dead_reason TEXT,
    scope INTEGER NOT NULL DEFAULT 0,
    failed_attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,
    UNIQUE (task, id)
  );
  CREATE INDEX push_owing ON push (key) WHERE owing = 1;
  CREATE INDEX push_dead ON push (key) WHERE dead_at IS NOT NULL;
  CREATE INDEX push_owing_by_scope ON push (scope) WHERE owing = 1;
  CREATE INDEX push_retry ON push (due_at) WHERE owing = 1 AND due_at > 0;
`;

/** The clock at the last sweep, in one row. */
const CREATE_SWEEP_CLOCK_SQL = `
  CREATE TABLE sweep_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    wall_ms INTEGER NOT NULL,
    ahead_ms INTEGER NOT NULL,
    delayed_ms INTEGER NOT NULL,
    was_set_back INTEGER NOT NULL
  );
`;

/**
 * SQL statements that each schema version adds to the previous version. Append new versions, because files contain the
 * number of their last version. A released step never changes.
 */
export const SCHEMA_STEPS: readonly string[] = [
  CREATE_TASK_TABLES_SQL + CREATE_TURN_TABLES_SQL + CREATE_PUSH_TABLES_SQL + CREATE_SWEEP_CLOCK_SQL,
];
