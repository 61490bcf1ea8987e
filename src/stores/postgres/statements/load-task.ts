import { defineStatement, type PostgresStatement } from "../define-statement.ts";

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
  readonly artifact_references: string | null;
  readonly epoch: number | null;
  readonly flag: boolean | null;
}

/** Rows of the snapshots and of the later and referenced events of the tasks in `source`, which has a column `key`. */
export function renderContentRowsSql(source: string, logCondition = ""): string {
  return `
  SELECT snapshot.task AS key, 'snapshot' AS kind, snapshot.seq, snapshot.json AS text,
    snapshot.artifact_references, NULL::bigint AS epoch, NULL::boolean AS flag
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
    NULL AS artifact_references, epoch, running AND NOT is_held AS flag
  FROM loaded
  UNION ALL
  ${renderContentRowsSql("loaded")}
  UNION ALL
  SELECT queued_turn.task, 'queued', queued_turn.position, queued_turn.json, NULL, NULL, NULL
  FROM loaded JOIN colloquy.queued_turn AS queued_turn ON queued_turn.task = loaded.key`,
);
