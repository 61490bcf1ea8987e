import type { Clock } from "../../engine/index.ts";
import type { SweepClockRecord, SweepClockStore } from "../index.ts";
import {
  advanceTrustedTime,
  startTrustedTime,
  type ClockReading,
  type TrustedTime,
  type TrustPolicy,
} from "./trusted-time.ts";

/** Longest time in milliseconds between two records of an unchanged state, so that sweeps seldom write. */
const RECORD_INTERVAL_MS = 60 * 60 * 1000;

/** Keeps the trusted time of a server, and stores it for the next process. */
export class SweepClock {
  readonly #clock: Clock;
  readonly #store: SweepClockStore | undefined;
  readonly #startReading: ClockReading | undefined;
  readonly #policy: TrustPolicy;
  #time: TrustedTime | undefined;
  #lastRecord: SweepClockRecord | undefined;

  constructor(
    clock: Clock,
    store: SweepClockStore | undefined,
    startReading: ClockReading | undefined,
    policy: Omit<TrustPolicy, "countsStoppedTime">,
  ) {
    this.#clock = clock;
    this.#store = store;
    this.#startReading = startReading;
    this.#policy = { ...policy, countsStoppedTime: store?.countsStoppedTime ?? false };
  }

  /** Reads the clocks, and resolves with the trusted time. Stores the time if it has changed, or if the record is old. */
  async update(): Promise<TrustedTime> {
    const { record, ...reading } = await readSweepClocks(this.#clock, this.#store);
    if (!this.#time) {
      this.#lastRecord = record;
      this.#time = startTrustedTime(record, this.#startReading ?? reading, this.#policy);
    }
    this.#time = advanceTrustedTime(this.#time, reading, this.#policy);
    await this.#saveIfChanged(this.#time);
    return this.#time;
  }

  async #saveIfChanged({ wallMs, aheadMs, delayedMs, wasSetBack }: TrustedTime): Promise<void> {
    const record = { wallMs, aheadMs, delayedMs, wasSetBack };
    if (!this.#store || (this.#lastRecord && !isOutdated(this.#lastRecord, record))) return;
    await this.#store.write(record);
    this.#lastRecord = record;
  }
}

function isOutdated(record: SweepClockRecord, current: SweepClockRecord): boolean {
  return (
    Math.abs(current.wallMs - record.wallMs) >= RECORD_INTERVAL_MS ||
    current.aheadMs !== record.aheadMs ||
    current.wasSetBack !== record.wasSetBack
  );
}

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
