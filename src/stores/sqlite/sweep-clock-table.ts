import type { SweepClockRecord } from "../../engine/index.ts";
import type { SqlDatabase } from "./sql-database.ts";

/** Returns the record of the last sweep, or `undefined` before the first record. */
export function readSweepClockRecord(db: SqlDatabase): SweepClockRecord | undefined {
  const row = db
    .prepare(
      `SELECT wall_ms AS wallMs, ahead_ms AS aheadMs, delayed_ms AS delayedMs, was_set_back AS wasSetBack FROM sweep_clock`,
    )
    .get();
  if (!row) return undefined;
  const { wallMs, aheadMs, delayedMs, wasSetBack } = row as Record<string, number>;
  return {
    wallMs: wallMs ?? 0,
    aheadMs: aheadMs ?? 0,
    delayedMs: delayedMs ?? 0,
    wasSetBack: wasSetBack === 1,
  };
}

/** Replaces the record. Call within a transaction. */
export function writeSweepClockRecord(
  db: SqlDatabase,
  { wallMs, aheadMs, delayedMs, wasSetBack }: SweepClockRecord,
): void {
  db.prepare(
    "INSERT OR REPLACE INTO sweep_clock (id, wall_ms, ahead_ms, delayed_ms, was_set_back) VALUES (1, ?, ?, ?, ?)",
  ).run(Math.round(wallMs), Math.round(aheadMs), Math.round(delayedMs), wasSetBack ? 1 : 0);
}
