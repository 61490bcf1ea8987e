import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairScheduler } from "./fair-scheduler.ts";
import { computeRetryDelay, resolveRetryPolicy } from "./retry-policy.ts";

describe("FairScheduler", () => {
  it("alternates between keys and keeps the order within a key", () => {
    const scheduler = new FairScheduler<string>({ maxConcurrent: 10, maxPerKey: 10 });
    for (const who of ["a1", "a2", "a3", "b1", "c1", "c2"]) scheduler.enqueue(who.slice(0, 1), who);
    const order = Array.from({ length: 7 }, () => scheduler.startNext());
    expect(order).toEqual(["a1", "b1", "c1", "a2", "c2", "a3", undefined]);
  });

  it("respects the limits in total and per key, and starts every item", () => {
    const limits = fc.record({
      maxConcurrent: fc.integer({ min: 1, max: 5 }),
      maxPerKey: fc.integer({ min: 1, max: 3 }),
    });
    const steps = fc.array(fc.oneof(fc.constantFrom("a", "b", "c"), fc.constant("next"), fc.nat(4)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(limits, steps, (limit, doing) => {
        const scheduler = new FairScheduler<{ lane: string; number: number }>(limit);
        const running: { lane: string; number: number }[] = [];
        const came: Record<string, number> = {};
        const went: Record<string, number> = {};
        const next = (): boolean => {
          const who = scheduler.startNext();
          if (!who) return false;
          running.push(who);
          expect(who.number).toBe(went[who.lane] ?? 0);
          went[who.lane] = who.number + 1;
          expect(running.length).toBeLessThanOrEqual(limit.maxConcurrent);
          expect(running.filter(({ lane }) => lane === who.lane).length).toBeLessThanOrEqual(limit.maxPerKey);
          return true;
        };
        const leave = (at: number): void => {
          const [who] = running.splice(at % Math.max(1, running.length), 1);
          if (who) scheduler.release(who.lane);
        };
        for (const step of doing) {
          if (step === "next") next();
          else if (typeof step === "number") leave(step);
          else scheduler.enqueue(step, { lane: step, number: (came[step] = (came[step] ?? 0) + 1) - 1 });
        }
        while (running.length > 0 || next()) {
          while (next());
          leave(0);
        }
        expect(went).toEqual(came);
      }),
    );
  });
});

describe("the retry delay", () => {
  const policy = resolveRetryPolicy({ initialDelayMs: 1000, maxDelayMs: 60_000 });

  it("doubles up to a limit, minus a random part of up to a half [I-07]", () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 8, 1000].map((failures) => computeRetryDelay(failures, 0, policy));
    expect(longest).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(computeRetryDelay(3, 1, policy)).toBe(2000);
    expect(computeRetryDelay(3, 0.5, policy)).toBe(3000);
  });

  it("is as long as the receiver requests, within the limit [I-07]", () => {
    expect(computeRetryDelay(1, 1, policy, 30_000)).toBe(30_000);
    expect(computeRetryDelay(6, 0, policy, 5000)).toBe(32_000);
    expect(computeRetryDelay(1, 0, policy, 1e12)).toBe(60_000);
  });
});
