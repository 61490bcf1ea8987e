import type { Clock } from "../clock.ts";
import type { SweepClockStore } from "./task-deletion-store.ts";
import type { ClockReading, SweepClockRecord } from "./trusted-time.ts";

interface SweepClockReading extends ClockReading {
  readonly record: SweepClockRecord | undefined;
}

/** Reads the clocks and the stored record. A store with its own clock determines the wall-clock time. */
export async function readSweepClocks(
  clock: Clock,
  store: SweepClockStore | undefined,
): Promise<SweepClockReading> {
  const local = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  const { record, wallMs } = (await store?.read()) ?? {};
  return wallMs === undefined ? { ...local, record } : { wallMs, monotonicMs: clock.monotonic(), record };
}
