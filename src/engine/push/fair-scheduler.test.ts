import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairScheduler } from "./fair-scheduler.ts";
import { computeRetryDelay, resolveRetryPolicy } from "./retry-policy.ts";

describe("FairScheduler", () => {
  it("alternates between keys and keeps the order within a key", () => {
    const scheduler = new FairScheduler<string>({ maxConcurrent: 10, maxPerKey: 10 });
    for (const item of ["a1", "a2", "a3", "b1", "c1", "c2"]) scheduler.enqueue(item.slice(0, 1), item);
    const order = Array.from({ length: 7 }, () => scheduler.takeNextItem());
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
      fc.property(limits, steps, (limit, sequence) => {
        const scheduler = new FairScheduler<{ key: string; number: number }>(limit);
        const running: { key: string; number: number }[] = [];
        const enqueued: Record<string, number> = {};
        const started: Record<string, number> = {};
        const next = (): boolean => {
          const item = scheduler.takeNextItem();
          if (!item) return false;
          running.push(item);
          expect(item.number).toBe(started[item.key] ?? 0);
          started[item.key] = item.number + 1;
          expect(running.length).toBeLessThanOrEqual(limit.maxConcurrent);
          expect(running.filter(({ key }) => key === item.key).length).toBeLessThanOrEqual(limit.maxPerKey);
          return true;
        };
        const leave = (at: number): void => {
          const [item] = running.splice(at % Math.max(1, running.length), 1);
          if (item) scheduler.release(item.key);
        };
        for (const step of sequence) {
          if (step === "next") next();
          else if (typeof step === "number") leave(step);
          else
            scheduler.enqueue(step, { key: step, number: (enqueued[step] = (enqueued[step] ?? 0) + 1) - 1 });
        }
        while (running.length > 0 || next()) {
          while (next());
          leave(0);
        }
        expect(started).toEqual(enqueued);
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
