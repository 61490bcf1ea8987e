import { defineStatement, type PostgresStatement } from "../define-statement.ts";

/** Reads how far the snapshot of a task covers its events, and the bytes of the snapshot and of the later events. */
export const READ_EVENT_COVERAGE: PostgresStatement<
  readonly [key: number],
  {
    readonly seq: number;
    readonly covered_seq: number;
    readonly first_referenced_seq: number | null;
    readonly bytes: number;
  }
> = defineStatement(
  "colloquy_read_event_coverage",
  `SELECT task.seq, coalesce(snapshot.seq, 0) AS covered_seq, snapshot.first_referenced_seq,
    coalesce(octet_length(snapshot.json), 0) + coalesce((
      SELECT sum(octet_length(lines)) FROM colloquy.log AS log
      WHERE log.task = task.key AND log.seq > coalesce(snapshot.seq, 0)
    ), 0) AS bytes
  FROM colloquy.task AS task LEFT JOIN colloquy.snapshot AS snapshot ON snapshot.task = task.key
  WHERE task.key = $1`,
);
