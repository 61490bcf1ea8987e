import type { DatabaseSync } from "node:sqlite";
import { A2AError } from "../../protocol/index.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { sealStoredPushSecrets } from "./seal-stored-push-secrets.ts";
import type { SqlDatabase } from "./sql-database.ts";

/**
 * Scopes and tasks have small integer keys, so that the rows of other tables and the indexes stay small. Each
 * row of `log` contains the events of one append as JSON lines. In each row, `seq` is the sequence number of
 * the append's last event. Snapshots have a separate table, because every append would otherwise rewrite the
 * snapshot of its task. The decision docs/decisions/008-sqlite-layout.md explains the layout of the tables.
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
    state TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    UNIQUE (scope, task_id)
  );
  CREATE INDEX task_list ON task (scope, timestamp, task_id, state);
  CREATE INDEX task_context ON task (scope, context_id);
  CREATE INDEX task_unfinished ON task (key) WHERE state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING');
  CREATE TABLE log (
    task INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    lines TEXT NOT NULL,
    PRIMARY KEY (task, seq)
  );
  CREATE TABLE snapshot (
    task INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    json TEXT NOT NULL
  );
  CREATE TABLE message (
    scope INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    task INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, message_id)
  ) WITHOUT ROWID;
`;

/**
 * Webhooks. `owing` is 1 while the webhook needs deliveries, and 0 after delivery has ended or has stopped
 * permanently. The query at start-up uses a partial index that excludes finished webhooks, which are the
 * majority. AUTOINCREMENT prevents the reuse of webhook keys.
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
    UNIQUE (task, id)
  );
  CREATE INDEX push_owing ON push (key) WHERE owing = 1;
  CREATE INDEX push_dead ON push (key) WHERE dead_at IS NOT NULL;
`;

/**
 * Stored requests, so that a server can start unfinished turns again after a restart. For most agents, the
 * `turn` table is empty.
 */
const CREATE_RESTARTABLE_TURN_TABLE_SQL = `
  CREATE TABLE turn (
    task INTEGER PRIMARY KEY,
    json TEXT NOT NULL
  );
`;

/**
 * The running turn and the lease of each task. `running` is 1 from the append that begins a turn to the append
 * that ends the turn, whatever the state of the task. `epoch` is the number of claims. Older versions of Colloquy
 * recovered the tasks in the states SUBMITTED and WORKING.
 */
const ADD_TASK_LEASE_COLUMNS_SQL = `
  ALTER TABLE task ADD COLUMN running INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE task ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
  UPDATE task SET running = 1 WHERE state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING');
  DROP INDEX task_unfinished;
  CREATE INDEX task_running ON task (key) WHERE running = 1;
`;

/**
 * Indexes that find the oldest stopped tasks, and the message ids of a task. New entries are appended at the
 * end of each index, so that the indexes add little to the cost of a commit. `deleted_task` contains the keys
 * of deleted tasks whose log still has rows, because a long log is deleted in several transactions.
 */
const CREATE_RETENTION_TABLES_SQL = `
  CREATE INDEX task_ended ON task (timestamp)
    WHERE state IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED');
  CREATE INDEX task_waiting ON task (timestamp)
    WHERE state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED');
  CREATE INDEX message_task ON message (task);
  CREATE TABLE deleted_task (key INTEGER PRIMARY KEY);
`;

/**
 * Older versions of Colloquy derived agent ids from file names. No valid agent id begins with a slash, so the
 * tasks under an old id are hidden until `adoptTasksOfEarlierIds` assigns them to an agent.
 */
const SET_EARLIER_AGENT_IDS_ASIDE_SQL = `
  UPDATE scope SET agent = '/' || agent;
`;

/**
 * Messages that wait for the current turn of their task, as JSON. The row of a queued message in `message` has
 * `seq` 0 until the message's turn begins.
 */
const CREATE_QUEUED_TURN_TABLE_SQL = `
  CREATE TABLE queued_turn (
    task INTEGER NOT NULL,
    position INTEGER NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (task, position)
  );
`;

/**
 * Indexes for lists of tasks, and the numbers of tasks by scope and state. Both indexes sort by state before time,
 * so that a list with or without a state reads only the index entries of its page. `has_only_artifacts` is 1 for
 * rows that a list without artifacts skips. SQLite stores 0 and 1 in the header of a row, and therefore skips such
 * a row without reading its content.
 */
const ADD_TASK_LIST_INDEXES_SQL = `
  ALTER TABLE log ADD COLUMN has_only_artifacts INTEGER NOT NULL DEFAULT 0;
  DROP INDEX task_list;
  DROP INDEX task_context;
  CREATE INDEX task_by_state ON task (scope, state, timestamp, task_id);
  CREATE INDEX task_by_context ON task (scope, context_id, state, timestamp, task_id);
  CREATE TABLE task_count (
    scope INTEGER NOT NULL,
    state TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, state)
  ) WITHOUT ROWID;
  INSERT INTO task_count (scope, state, count) SELECT scope, state, count(*) FROM task GROUP BY scope, state;
`;

/**
 * References of a snapshot to the artifact content in the log, as JSON. The restored task needs the log rows from
 * `first_referenced_seq` on. Both columns are NULL for a snapshot with all content. Older versions of Colloquy
 * wrote only such snapshots.
 */
const ADD_ARTIFACT_REFERENCES_SQL = `
  ALTER TABLE snapshot ADD COLUMN artifact_references TEXT;
  ALTER TABLE snapshot ADD COLUMN first_referenced_seq INTEGER;
`;

/**
 * The scope of each webhook, so that the webhooks of a caller that need deliveries can be counted. Older versions of
 * Colloquy stored the tokens and credentials of webhooks as plain text, which the migration encrypts.
 */
const ADD_PUSH_SCOPE_SQL = `
  ALTER TABLE push ADD COLUMN scope INTEGER NOT NULL DEFAULT 0;
  UPDATE push SET scope = coalesce((SELECT scope FROM task WHERE task.key = push.task), 0);
  CREATE INDEX push_owing_by_scope ON push (scope) WHERE owing = 1;
`;

/** Results of the finished steps of running turns. For most agents, the `finished_step` table is empty. */
const CREATE_STEP_TABLE_SQL = `
  CREATE TABLE finished_step (
    task INTEGER NOT NULL,
    turn_seq INTEGER NOT NULL,
    key TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (task, turn_seq, key)
  );
`;

/** The time of the next attempt of a webhook whose last attempt has failed, or 0, and the number of failed attempts. */
const ADD_PUSH_RETRY_SQL = `
  ALTER TABLE push ADD COLUMN failed_attempts INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE push ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX push_retry ON push (due_at) WHERE owing = 1 AND due_at > 0;
`;

/** A schema version, as SQL or as a function that changes the database in the current transaction. */
type MigrationStep = string | ((db: SqlDatabase, cipher: PushSecretCipher | undefined) => void);

function addPushScopeAndSealSecrets(db: SqlDatabase, cipher: PushSecretCipher | undefined): void {
  db.exec(ADD_PUSH_SCOPE_SQL);
  sealStoredPushSecrets(db, cipher);
}

/**
 * Steps that each schema version adds to the previous version. New versions are appended, because files
 * contain the number of their last version. `test/resilience/store-migrations.test.ts` opens stores of earlier commits.
 */
const MIGRATIONS: readonly MigrationStep[] = [
  CREATE_TASK_TABLES_SQL,
  CREATE_PUSH_TABLES_SQL,
  CREATE_RESTARTABLE_TURN_TABLE_SQL,
  ADD_TASK_LEASE_COLUMNS_SQL,
  CREATE_RETENTION_TABLES_SQL,
  SET_EARLIER_AGENT_IDS_ASIDE_SQL,
  CREATE_QUEUED_TURN_TABLE_SQL,
  ADD_TASK_LIST_INDEXES_SQL,
  ADD_ARTIFACT_REFERENCES_SQL,
  addPushScopeAndSealSecrets,
  CREATE_STEP_TABLE_SQL,
  ADD_PUSH_RETRY_SQL,
];
export const SCHEMA_VERSION: number = MIGRATIONS.length;

/** Returns the schema version of a database, or 0 for an empty database. */
export function readSchemaVersion(db: DatabaseSync): number {
  return db.prepare("PRAGMA user_version").get()?.["user_version"] as number;
}

interface SchemaMigrationContext {
  /** Called before each step, with the version that the step creates. */
  readonly onStep?: (nextVersion: number) => void;
  /** Encrypts the secrets that older versions stored as plain text. Only databases with such secrets need it. */
  readonly cipher?: PushSecretCipher;
}

/** Throws an error if a newer version of Colloquy wrote the database. */
export function assertKnownSchemaVersion(version: number, path: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new A2AError(
    "UNAVAILABLE",
    `${path} was written by a newer version of Colloquy (schema ${version}, this one knows ${SCHEMA_VERSION}); upgrade Colloquy or choose another file.`,
  );
}

/** Runs the steps from one schema version to another. Call the function within a transaction. */
export function runMigrationSteps(
  db: SqlDatabase,
  { from, to = SCHEMA_VERSION }: { readonly from: number; readonly to?: number },
  { onStep = () => {}, cipher }: SchemaMigrationContext = {},
): void {
  for (const [at, step] of MIGRATIONS.slice(from, to).entries()) {
    onStep(from + at + 1);
    if (typeof step === "string") db.exec(step);
    else step(db, cipher);
  }
}

/**
 * Creates the tables of an empty file, or runs the steps that an older file lacks, in one transaction. Throws an error if
 * a newer version of Colloquy wrote the file.
 */
export function migrateSchema(
  db: DatabaseSync,
  path: string,
  targetVersion: number = SCHEMA_VERSION,
  context: SchemaMigrationContext = {},
): void {
  const version = readSchemaVersion(db);
  assertKnownSchemaVersion(version, path);
  if (version >= targetVersion) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    runMigrationSteps(db, { from: version, to: targetVersion }, context);
    db.exec(`PRAGMA user_version = ${targetVersion}; COMMIT;`);
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
