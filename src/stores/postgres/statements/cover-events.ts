import { defineStatement, type PostgresStatement } from "../define-statement.ts";

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
