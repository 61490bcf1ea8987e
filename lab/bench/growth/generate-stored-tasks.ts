import { DatabaseSync } from "node:sqlite";
import { TASK_STATES, type TaskEvent, type TaskState } from "../../../src/protocol/index.ts";
import { migrateSchema } from "../../../src/stores/sqlite/migrate-schema.ts";
import { encodeState } from "../../../src/stores/sqlite/status-columns.ts";

/** Number of consecutive tasks with the same context. */
const TASKS_PER_CONTEXT = 10;
/** One of this many tasks has the state FAILED, and one of this many tasks has the state INPUT_REQUIRED. */
const TASKS_PER_FAILED_TASK = 20;
const TASKS_PER_WAITING_TASK = 50;
/** Time in milliseconds between two tasks. The newest task is as old as the file. */
const TASK_INTERVAL_MS = 100;

const TASK_ID = "00000000-0000-7000-8000-task00000000";
const CONTEXT_ID = "00000000-0000-7000-8000-context00000";
const MESSAGE_ID = "message-id-of-12-hex";
const TIMESTAMP = "2026-01-01T00:00:00.000Z";
const STATE = "TASK_STATE_OF_THIS_TASK" as TaskState;

/**
 * Creates a SQLite store with `count` tasks of the agent `bench`, as the server stores them. SQL statements
 * copy one task, so that a million tasks take seconds.
 */
export function generateStoredTasks(storeFile: string, count: number): void {
  const db = new DatabaseSync(storeFile);
  try {
    db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    migrateSchema(db, storeFile);
    db.exec("BEGIN; INSERT INTO scope (key, tenant, principal, agent) VALUES (1, '', '', 'bench')");
    const lines = LOGGED_EVENTS.map((event) => JSON.stringify(event)).join("\n");
    db.prepare(CREATE_GENERATED_TABLE_SQL).run(Date.now() - count * TASK_INTERVAL_MS, count);
    db.exec(`INSERT INTO task (key, scope, task_id, context_id, seq, state, timestamp)
      SELECT key, 1, task_id, context_id, ${LOGGED_EVENTS.length}, CASE state ${STATE_NUMBERS_SQL} END, ms FROM generated`);
    db.prepare(
      `INSERT INTO log (task, seq, committed_at, lines) SELECT key, ${LOGGED_EVENTS.length}, ms,
        replace(replace(replace(replace(replace(?, '${TASK_ID}', task_id), '${CONTEXT_ID}', context_id),
          '${MESSAGE_ID}', message_id), '${TIMESTAMP}', timestamp), '${STATE}', state) FROM generated`,
    ).run(lines);
    db.exec(`INSERT INTO message (scope, message_id, task, seq) SELECT 1, message_id, key, 1 FROM generated;
      INSERT INTO task_count (scope, state, count) SELECT scope, state, count(*) FROM task GROUP BY scope, state;
      DROP TABLE generated; COMMIT`);
  } finally {
    db.close();
  }
}

/** Terms of a CASE expression that converts states to the numbers of the store. */
const STATE_NUMBERS_SQL = TASK_STATES.map((state) => `WHEN '${state}' THEN ${encodeState(state)}`).join(" ");

/** Fills a temporary table with the ids, states, and times of the tasks. Ids are version 7 UUIDs. */
const CREATE_GENERATED_TABLE_SQL = `
  CREATE TEMP TABLE generated AS
  WITH RECURSIVE
    number(key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM number WHERE key < ?2),
    timed AS (SELECT key, CAST(?1 AS INTEGER) + key * ${TASK_INTERVAL_MS} AS ms FROM number)
  SELECT key, ms,
    printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, key) AS task_id,
    printf('%08x-%04x-7000-9000-%012x', ms >> 16, 0, (key - 1) / ${TASKS_PER_CONTEXT}) AS context_id,
    printf('stored-%013x', key) AS message_id,
    strftime('%Y-%m-%dT%H:%M:%fZ', ms / 1000.0, 'unixepoch') AS timestamp,
    CASE WHEN key % ${TASKS_PER_FAILED_TASK} = 0 THEN 'TASK_STATE_FAILED'
      WHEN key % ${TASKS_PER_WAITING_TASK} = 1 THEN 'TASK_STATE_INPUT_REQUIRED'
      ELSE 'TASK_STATE_COMPLETED' END AS state
  FROM timed`;

const IDS = { taskId: TASK_ID, contextId: CONTEXT_ID };

/** The log of each task. */
const LOGGED_EVENTS: readonly TaskEvent[] = [
  {
    task: {
      id: TASK_ID,
      contextId: CONTEXT_ID,
      status: { state: "TASK_STATE_SUBMITTED", timestamp: TIMESTAMP },
      history: [{ messageId: MESSAGE_ID, ...IDS, role: "ROLE_USER", parts: [{ text: "chunks 10" }] }],
    },
  },
  { statusUpdate: { ...IDS, status: { state: "TASK_STATE_WORKING", timestamp: TIMESTAMP } } },
  {
    artifactUpdate: {
      ...IDS,
      artifact: { artifactId: "answer", parts: [{ text: "chunk 00000000. ".repeat(10) }] },
      lastChunk: true,
    },
  },
  { statusUpdate: { ...IDS, status: { state: STATE, timestamp: TIMESTAMP } } },
];
