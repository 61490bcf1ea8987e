import type { Clock } from "../clock.ts";
import type { SweepClockStore } from "./task-deletion-store.ts";
import type { ClockReading, SweepClockRecord } from "./trusted-time.ts";

interface SweepClockReading extends ClockReading {
  readonly record: SweepClockRecord | undefined;
}

/** Longest duration in milliseconds of a query whose time belongs to the monotonic time after the query. */
const MAX_QUERY_MS = 1000;
const MAX_QUERIES = 3;

/** Reads the clocks and the stored record. A store with its own clock determines the wall-clock time. */
export async function readSweepClocks(
  clock: Clock,
  store: SweepClockStore | undefined,
): Promise<SweepClockReading> {
  for (let query = 1; ; query++) {
    const local = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
    const { record, wallMs } = (await store?.read()) ?? {};
    if (wallMs === undefined) return { ...local, record };
    const monotonicMs = clock.monotonic();
    // During a long query, the machine may have been suspended.
    if (monotonicMs - local.monotonicMs <= MAX_QUERY_MS || query === MAX_QUERIES)
      return { wallMs, monotonicMs, record };
  }
}
