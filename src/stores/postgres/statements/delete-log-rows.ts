import { defineStatement, type PostgresStatement } from "../define-statement.ts";

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
