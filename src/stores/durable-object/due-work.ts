import type { SqlStatements } from "../sqlite/sql-database.ts";

/**
 * Returns the earliest time, in milliseconds since 1970, at which a turn or a push notification needs the object although
 * no request arrives. The time 0 means now. Returns `undefined` without such work.
 */
export function findNextDueTime(sql: SqlStatements): number | undefined {
  const isWaiting = sql.get(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM queued_turn) OR EXISTS (
       SELECT 1 FROM push JOIN task ON task.key = push.task WHERE push.owing = 1 AND push.delivered < task.seq
     )`,
  );
  if (isWaiting) return 0;
  const wake = sql.get<{ time: number | null }>(
    `SELECT min(coalesce(json_extract(turn.json, '$.wakeAt'), 0)) AS time
     FROM task LEFT JOIN turn ON turn.task = task.key WHERE running = 1`,
  );
  return wake?.time ?? undefined;
}

export function hasTasks(sql: SqlStatements): boolean {
  return sql.get("SELECT 1 FROM task LIMIT 1") !== undefined;
}
