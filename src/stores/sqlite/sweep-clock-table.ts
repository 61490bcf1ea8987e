import type { SweepClockRecord } from "../../engine/index.ts";
import type { SqlDatabase } from "./sql-database.ts";

/**
 * The table is not part of the schema version, because earlier versions of Colloquy can use a file with the table. A
 * step of the schema would copy the file before its migration.
 */
const CREATE_TABLE_SQL = `
  CREATE TABLE IF NOT EXISTS sweep_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    wall_ms INTEGER NOT NULL,
    ahead_ms INTEGER NOT NULL,
    delayed_ms INTEGER NOT NULL,
    was_set_back INTEGER NOT NULL
  )`;

/** Returns the record of the last sweep, or `undefined` before the first record. */
export function readSweepClockRecord(db: SqlDatabase): SweepClockRecord | undefined {
  if (!db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sweep_clock'").get()) return undefined;
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
  db.exec(CREATE_TABLE_SQL);
  db.prepare(
    "INSERT OR REPLACE INTO sweep_clock (id, wall_ms, ahead_ms, delayed_ms, was_set_back) VALUES (1, ?, ?, ?, ?)",
  ).run(Math.round(wallMs), Math.round(aheadMs), Math.round(delayedMs), wasSetBack ? 1 : 0);
}
