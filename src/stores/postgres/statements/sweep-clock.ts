import { defineStatement, type PostgresStatement } from "../define-statement.ts";

interface SweepClockRow {
  /** Time of the database's clock in milliseconds since 1970. */
  readonly now_ms: number;
  /** The other columns are `null` before the first record. */
  readonly wall_ms: number | null;
  readonly ahead_ms: number | null;
  readonly delayed_ms: number | null;
  readonly was_set_back: boolean | null;
}

/** Reads the clock of the database, and the record of the last sweep. */
export const READ_SWEEP_CLOCK: PostgresStatement<readonly [], SweepClockRow> = defineStatement(
  "colloquy_read_sweep_clock",
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms, wall_ms, ahead_ms, delayed_ms, was_set_back
  FROM (VALUES (1)) AS one (id) LEFT JOIN colloquy.sweep_clock AS clock ON clock.id = one.id`,
);

/** Replaces the record of the last sweep. */
export const WRITE_SWEEP_CLOCK: PostgresStatement<
  readonly [wallMs: number, aheadMs: number, delayedMs: number, wasSetBack: boolean],
  never
> = defineStatement(
  "colloquy_write_sweep_clock",
  `INSERT INTO colloquy.sweep_clock (id, wall_ms, ahead_ms, delayed_ms, was_set_back)
  VALUES (1, $1::bigint, $2::bigint, $3::bigint, $4::boolean)
  ON CONFLICT (id) DO UPDATE SET wall_ms = excluded.wall_ms, ahead_ms = excluded.ahead_ms,
    delayed_ms = excluded.delayed_ms, was_set_back = excluded.was_set_back`,
);
