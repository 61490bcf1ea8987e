import type { LogLines } from "../../logged-events.ts";
import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/**
 * Reads the log rows with the events after `after`. The first row can contain earlier events, so its size does not count
 * for `maxBytes`. `octet_length` does not read the content of a row.
 */
export const READ_EVENTS: PostgresStatement<
  readonly [scope: string, taskId: string, after: number, maxRows: number, maxBytes: number],
  LogLines
> = defineStatement(
  "colloquy_read_events",
  `SELECT seq, lines FROM (
    SELECT log.seq, log.lines,
      sum(octet_length(log.lines)) OVER (ORDER BY log.seq) - octet_length(log.lines)
        - first_value(octet_length(log.lines)) OVER (ORDER BY log.seq) AS preceding_bytes
    FROM colloquy.log AS log
    WHERE log.task = (SELECT key FROM colloquy.task WHERE task_id = $2 AND scope = $1::uuid) AND log.seq > $3
    ORDER BY log.seq LIMIT $4
  ) AS page
  WHERE preceding_bytes <= $5 ORDER BY seq`,
);
