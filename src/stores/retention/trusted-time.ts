import type { SweepClockRecord } from "../index.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Running time in milliseconds after which the server trusts a wall clock that has jumped ahead. */
const TRUST_DELAY_MS = DAY_MS;
/** Time in milliseconds without a sweep after which the server does not trust the wall clock. */
const MAX_SWEEP_GAP_MS = 7 * DAY_MS;
/** Differences of the clocks in milliseconds that never count, because clocks are rounded and corrected. */
const MIN_JUMP_MS = 1000;
const MAX_JUMP_MS = HOUR_MS;
const MAX_JUMP_SHARE_OF_PERIOD = 0.1;

/** The wall clock, and the monotonic clock of the process, at one moment. Both are in milliseconds. */
export interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/**
 * The time from which the retention periods count. If the wall clock jumps ahead, the trusted time first follows the
 * monotonic clock, so that the jump makes no task due.
 */
export interface TrustedTime extends SweepClockRecord {
  readonly monotonicMs: number;
  /** Small differences between the wall clock and the monotonic clock that have not counted as a jump. */
  readonly driftMs: number;
}

/** The facts about a policy and a store that determine when the server trusts its wall clock. */
export interface TrustPolicy {
  /** Retention periods of the policy in milliseconds, without `Infinity`. */
  readonly periodsMs: readonly number[];
  readonly sweepIntervalMs: number;
  /** True if time in which no process runs counts as running time. */
  readonly countsStoppedTime: boolean;
}

/** Returns the trusted time of a process that starts. `record` is the record of an earlier process. */
export function startTrustedTime(
  record: SweepClockRecord | undefined,
  reading: ClockReading,
  policy: TrustPolicy,
): TrustedTime {
  const first = { aheadMs: 0, delayedMs: 0, wasSetBack: false, driftMs: 0, ...reading };
  if (!record) return first;
  const elapsedMs = reading.wallMs - record.wallMs;
  // A stopped server cannot tell a pause from a change of the clock, so only a short pause is trusted.
  const isPause = elapsedMs >= 0 && elapsedMs <= getMaxSweepGap(policy);
  const runMs = isPause && policy.countsStoppedTime ? elapsedMs : 0;
  return applyDrift({ ...first, ...record, ...reading }, isPause ? 0 : elapsedMs, runMs, policy);
}

/** Returns the trusted time at the next reading of the clocks in the same process. */
export function advanceTrustedTime(
  previous: TrustedTime,
  reading: ClockReading,
  policy: TrustPolicy,
): TrustedTime {
  const elapsedMs = reading.wallMs - previous.wallMs;
  const monotonicMs = reading.monotonicMs - previous.monotonicMs;
  // The monotonic clock of some systems continues while the machine is suspended.
  const runMs = monotonicMs <= getMaxSweepGap(policy) ? monotonicMs : 0;
  const driftMs = previous.driftMs + elapsedMs - runMs;
  return applyDrift({ ...previous, ...reading }, driftMs, runMs, policy);
}

function applyDrift(time: TrustedTime, driftMs: number, runMs: number, policy: TrustPolicy): TrustedTime {
  const maxDriftMs = getMaxDrift(policy);
  const aheadMs = time.aheadMs + driftMs;
  if (driftMs > maxDriftMs) return { ...time, aheadMs, delayedMs: 0, driftMs: 0 };
  const delayedMs = time.delayedMs + runMs;
  if (driftMs < -maxDriftMs) {
    const wasSetBack = time.wasSetBack || aheadMs < -TRUST_DELAY_MS;
    // A clock that was ahead, and was set back to the right time, needs no further delay.
    return { ...time, aheadMs: aheadMs > maxDriftMs ? aheadMs : 0, delayedMs, driftMs: 0, wasSetBack };
  }
  const isTrusted = time.aheadMs === 0 || delayedMs >= getTrustDelay(time, Math.max(0, ...policy.periodsMs));
  if (!isTrusted) return { ...time, driftMs, delayedMs };
  const wasSetBack = time.wasSetBack && time.aheadMs === 0;
  return { ...time, driftMs, aheadMs: 0, delayedMs: 0, wasSetBack };
}

/** Returns the time, in milliseconds since 1970, from which a retention period counts. */
export function getTrustedTime(time: TrustedTime, periodMs: number): number {
  return time.delayedMs >= getTrustDelay(time, periodMs) ? time.wallMs : time.wallMs - time.aheadMs;
}

/**
 * Returns the running time in milliseconds after which the wall clock determines the end of a period. If the clock was
 * behind before it jumped ahead, tasks of that time seem older than they are, until their period has passed.
 */
export function getTrustDelay({ wasSetBack }: SweepClockRecord, periodMs: number): number {
  return wasSetBack ? Math.max(TRUST_DELAY_MS, periodMs) : TRUST_DELAY_MS;
}

function getMaxSweepGap({ sweepIntervalMs }: TrustPolicy): number {
  return MAX_SWEEP_GAP_MS + sweepIntervalMs;
}

function getMaxDrift({ periodsMs }: TrustPolicy): number {
  const share = MAX_JUMP_SHARE_OF_PERIOD * Math.min(...periodsMs);
  return Math.max(MIN_JUMP_MS, Math.min(MAX_JUMP_MS, share));
}
