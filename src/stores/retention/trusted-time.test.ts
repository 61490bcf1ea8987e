import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SweepClockRecord } from "../index.ts";
import {
  advanceTrustedTime,
  getTrustedTime,
  startTrustedTime,
  type TrustedTime,
  type TrustPolicy,
} from "./trusted-time.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 0, 1);

const DEFAULT_POLICY: TrustPolicy = {
  periodsMs: [7 * DAY_MS, 30 * DAY_MS, 90 * DAY_MS],
  sweepIntervalMs: 10_000,
  countsStoppedTime: false,
};

/** Time that passes until the next sweep, and the change of the wall clock in this time. */
interface Step {
  readonly runMs: number;
  readonly jumpMs: number;
}

function startClock(policy = DEFAULT_POLICY, record?: SweepClockRecord, wallMs = START_MS): TrustedTime {
  return startTrustedTime(record, { wallMs, monotonicMs: 0 }, policy);
}

function advance(time: TrustedTime, { runMs, jumpMs }: Step, policy = DEFAULT_POLICY): TrustedTime {
  const reading = { wallMs: time.wallMs + runMs + jumpMs, monotonicMs: time.monotonicMs + runMs };
  return advanceTrustedTime(time, reading, policy);
}

/** Stores the time, and loads it in a new process after a pause. */
function restart(
  { wallMs, aheadMs, delayedMs, wasSetBack }: TrustedTime,
  pauseMs: number,
  policy = DEFAULT_POLICY,
): TrustedTime {
  return startClock(policy, { wallMs, aheadMs, delayedMs, wasSetBack }, wallMs + pauseMs);
}

const jumps = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.integer({ min: -2 * HOUR_MS, max: 2 * HOUR_MS }),
  fc.integer({ min: -4000 * DAY_MS, max: 4000 * DAY_MS }),
);
const steps = fc.array(fc.record({ runMs: fc.integer({ min: 0, max: DAY_MS }), jumpMs: jumps }), {
  maxLength: 40,
});
const policies = fc.record({
  periodsMs: fc.array(fc.integer({ min: 1, max: 400 * DAY_MS }), { minLength: 1, maxLength: 5 }),
  sweepIntervalMs: fc.constant(10_000),
  countsStoppedTime: fc.constant(false),
});

describe("the trusted time", () => {
  it("is never later than the wall clock", () => {
    fc.assert(
      fc.property(policies, steps, (policy, all) => {
        let time = startClock(policy);
        for (const step of all) {
          time = advance(time, step, policy);
          for (const periodMs of policy.periodsMs)
            expect(getTrustedTime(time, periodMs)).toBeLessThanOrEqual(time.wallMs);
        }
      }),
    );
  });

  it("advances in less than 24 hours of running time by at most this time, whatever the wall clock does", () => {
    fc.assert(
      fc.property(policies, steps, (policy, all) => {
        let time = startClock(policy);
        const shortestMs = Math.min(...policy.periodsMs);
        const toleranceMs = Math.max(1000, Math.min(HOUR_MS, shortestMs / 10));
        let ranMs = 0;
        for (const step of all) {
          ranMs += step.runMs;
          if (ranMs >= DAY_MS) return;
          time = advance(time, step, policy);
          expect(getTrustedTime(time, shortestMs)).toBeLessThanOrEqual(START_MS + ranMs + toleranceMs);
        }
      }),
    );
  });

  it("is the wall clock after the longest period without jumps, and after 24 hours if the clock was never behind", () => {
    fc.assert(
      fc.property(policies, steps, (policy, all) => {
        let time = startClock(policy);
        for (const step of all) time = advance(time, step, policy);
        const { wasSetBack } = time;
        time = advance(time, { runMs: DAY_MS, jumpMs: 0 }, policy);
        const longestMs = Math.max(...policy.periodsMs);
        if (!wasSetBack) expect(getTrustedTime(time, longestMs)).toBe(time.wallMs);
        for (let ranMs = 0; ranMs < longestMs; ranMs += DAY_MS)
          time = advance(time, { runMs: DAY_MS, jumpMs: 0 }, policy);
        expect(getTrustedTime(time, longestMs)).toBe(time.wallMs);
      }),
    );
  });

  it("survives restarts of the process: the sum of short pauses and running times is its limit", () => {
    fc.assert(
      fc.property(policies, steps, fc.integer({ min: 0, max: 6 * DAY_MS }), (policy, all, pauseMs) => {
        let time = startClock(policy);
        const shortestMs = Math.min(...policy.periodsMs);
        let ranMs = 0;
        let passedMs = 0;
        for (const step of all) {
          ranMs += step.runMs;
          if (ranMs >= DAY_MS) return;
          time = restart(advance(time, step, policy), pauseMs, policy);
          passedMs += step.runMs + pauseMs;
          // Each process forgets differences that were too small for a jump.
          const toleranceMs = all.length * HOUR_MS;
          expect(getTrustedTime(time, shortestMs)).toBeLessThanOrEqual(START_MS + passedMs + toleranceMs);
        }
      }),
    );
  });

  it("follows a wall clock that differs by ten minutes with the default periods", () => {
    let time = startClock();
    for (const jumpMs of [10 * MINUTE_MS, -10 * MINUTE_MS, -10 * MINUTE_MS, 10 * MINUTE_MS]) {
      time = advance(time, { runMs: 10_000, jumpMs });
      expect(getTrustedTime(time, 7 * DAY_MS)).toBe(time.wallMs);
    }
  });

  it("adds up small differences, so that a clock that runs twice as fast counts as a jump", () => {
    let time = startClock();
    for (let sweep = 0; sweep < 1000; sweep++) time = advance(time, { runMs: 10_000, jumpMs: 10_000 });
    const leadMs = getTrustedTime(time, 7 * DAY_MS) - (START_MS + 1000 * 10_000);
    expect(leadMs).toBeGreaterThanOrEqual(0);
    expect(leadMs).toBeLessThanOrEqual(HOUR_MS);
  });

  it("trusts the wall clock at once when the clock is set back to the right time", () => {
    const ahead = advance(startClock(), { runMs: 10_000, jumpMs: 100 * DAY_MS });
    expect(getTrustedTime(ahead, 7 * DAY_MS)).toBe(START_MS + 10_000);
    const right = advance(ahead, { runMs: 10_000, jumpMs: -100 * DAY_MS });
    expect(right).toMatchObject({ aheadMs: 0, wasSetBack: false });
    expect(getTrustedTime(right, 7 * DAY_MS)).toBe(START_MS + 20_000);
  });

  it("waits for 24 hours from the last of several jumps", () => {
    let time = advance(startClock(), { runMs: HOUR_MS, jumpMs: DAY_MS });
    time = advance(time, { runMs: 23 * HOUR_MS, jumpMs: DAY_MS });
    time = advance(time, { runMs: 23 * HOUR_MS, jumpMs: 0 });
    expect(time.aheadMs).toBe(2 * DAY_MS);
    time = advance(time, { runMs: HOUR_MS, jumpMs: 0 });
    expect(time.aheadMs).toBe(0);
  });

  it("counts a tenth of a short period as a jump, but no difference of less than a second", () => {
    const policy = { ...DEFAULT_POLICY, periodsMs: [20 * MINUTE_MS] };
    const isDelayed = (jumpMs: number, of: TrustPolicy = policy): boolean =>
      advance(startClock(of), { runMs: 0, jumpMs }, of).aheadMs > 0;
    expect([isDelayed(2 * MINUTE_MS), isDelayed(2 * MINUTE_MS + 1)]).toEqual([false, true]);
    expect([isDelayed(HOUR_MS, DEFAULT_POLICY), isDelayed(HOUR_MS + 1, DEFAULT_POLICY)]).toEqual([
      false,
      true,
    ]);
    const short = { ...policy, periodsMs: [1] };
    expect([isDelayed(1000, short), isDelayed(1001, short)]).toEqual([false, true]);
  });

  it("does not trust a pause of more than 7 days, in a process and between two processes", () => {
    const running = startClock();
    const resumed = advance(running, { runMs: 8 * DAY_MS, jumpMs: 0 });
    expect(getTrustedTime(resumed, 7 * DAY_MS)).toBe(START_MS);
    expect(getTrustedTime(restart(running, 8 * DAY_MS), 7 * DAY_MS)).toBe(START_MS);
    expect(getTrustedTime(restart(running, 7 * DAY_MS), 7 * DAY_MS)).toBe(START_MS + 7 * DAY_MS);
  });

  it("counts the time between two processes as running time only if the store says so", () => {
    const intermittent = { ...DEFAULT_POLICY, countsStoppedTime: true };
    const late = restart(startClock(), 8 * DAY_MS);
    expect(restart(late, DAY_MS).aheadMs).toBe(8 * DAY_MS);
    expect(restart(late, DAY_MS, intermittent).aheadMs).toBe(0);
  });

  it("waits for the period itself if the clock was behind by more than a day before it jumped ahead", () => {
    let time = advance(startClock(), { runMs: 10_000, jumpMs: -3650 * DAY_MS });
    time = advance(restart(time, 10_000), { runMs: 10_000, jumpMs: 3650 * DAY_MS });
    for (let day = 0; day < 6; day++) time = advance(time, { runMs: DAY_MS, jumpMs: 0 });
    expect(getTrustedTime(time, 7 * DAY_MS)).toBe(time.wallMs - time.aheadMs);
    time = advance(time, { runMs: DAY_MS, jumpMs: 0 });
    expect(getTrustedTime(time, 7 * DAY_MS)).toBe(time.wallMs);
    expect(getTrustedTime(time, 30 * DAY_MS)).toBe(time.wallMs - time.aheadMs);
  });
});
