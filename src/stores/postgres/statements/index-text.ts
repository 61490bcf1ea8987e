import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** A task whose words the index lacks. */
export interface UnindexedTaskRow {
  readonly key: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly task_id: string;
}

/**
 * Finds the tasks that a node has queued for the text index, and the tasks that a dead node has queued. Each node indexes
 * its own tasks, so that two nodes do not index the same task.
 */
export const FIND_QUEUED_TEXT: PostgresStatement<
  readonly [node: string, limit: number],
  UnindexedTaskRow & { readonly queue_key: number }
> = defineStatement(
  "colloquy_find_queued_text",
  `SELECT queued.key AS queue_key, task.key, task.tenant, task.principal, task.agent, task.task_id
  FROM colloquy.task_text_queue AS queued JOIN colloquy.task AS task ON task.key = queued.task
  WHERE queued.node = $1::uuid OR NOT EXISTS (
    SELECT 1 FROM colloquy.node AS owner WHERE owner.id = queued.node
  )
  ORDER BY queued.key LIMIT $2::int`,
);

/**
 * Finds the unindexed tasks without a running turn in a range of keys. Each row also has the number of tasks in the range
 * and the last key. A range without unindexed tasks has one row.
 */
export const FIND_UNINDEXED_TASKS: PostgresStatement<
  readonly [afterKey: number, rangeLength: number],
  { readonly task_count: number; readonly last_key: number | null } & {
    readonly [Column in keyof UnindexedTaskRow]: UnindexedTaskRow[Column] | null;
  }
> = defineStatement(
  "colloquy_find_unindexed_tasks",
  `WITH following AS MATERIALIZED (
    SELECT key, tenant, principal, agent, task_id, seq, running FROM colloquy.task AS task
    WHERE task.key > $1 ORDER BY task.key LIMIT $2::int
  )
  SELECT range.task_count, range.last_key, unindexed.key, unindexed.tenant, unindexed.principal, unindexed.agent, unindexed.task_id
  FROM (SELECT count(*) AS task_count, max(key) AS last_key FROM following) AS range LEFT JOIN (
    SELECT following.* FROM following WHERE NOT following.running AND NOT EXISTS (
      SELECT 1 FROM colloquy.task_text AS task_text
      WHERE task_text.task = following.key AND task_text.seq = following.seq
    )
  ) AS unindexed ON true
  ORDER BY unindexed.key`,
);

/**
 * Stores the words of a task as of the event `seq`, unless the task is deleted or the index has later words. The lock
 * makes a deletion wait, so that no words remain of a deleted task. Also removes the given entries of the queue.
 */
export const SAVE_TEXT: PostgresStatement<
  readonly [key: number, seq: number, words: string, queueKeys: readonly number[]],
  never
> = defineStatement(
  "colloquy_save_text",
  `WITH kept AS MATERIALIZED (SELECT key FROM colloquy.task WHERE key = $1 FOR KEY SHARE),
  saved AS (
    INSERT INTO colloquy.task_text AS known (task, seq, words) SELECT key, $2, $3::tsvector FROM kept
    ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, words = excluded.words WHERE known.seq <= excluded.seq
  )
  DELETE FROM colloquy.task_text_queue WHERE key = ANY ($4::bigint[])`,
);
