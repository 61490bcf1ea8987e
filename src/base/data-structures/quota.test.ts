import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Quota } from "./quota.ts";

function reserveUntilRefused(quota: Quota, holder: string): number {
  while (quota.reserve(holder, 1) === undefined);
  return quota.getReservedBy(holder);
}

describe("Quota", () => {
  it("gives a single holder half of the capacity", () => {
    expect(reserveUntilRefused(new Quota({ capacity: 1000 }), "a")).toBe(500);
  });

  it("leaves capacity for a second and a third holder after a greedy one", () => {
    const quota = new Quota({ capacity: 1000 });
    const shares = ["a", "b", "c"].map((holder) => reserveUntilRefused(quota, holder));
    expect(shares).toEqual([500, 250, 125]);
  });

  it("converges to equal shares when the greedy holder releases and reserves again", () => {
    const quota = new Quota({ capacity: 900 });
    reserveUntilRefused(quota, "a");
    for (let round = 0; round < 1000; round++) {
      for (const holder of ["a", "b"]) {
        if (quota.getReservedBy(holder) > 0) quota.release(holder, 1);
        quota.reserve(holder, 1);
        quota.reserve(holder, 1);
      }
    }
    expect(quota.getReservedBy("a")).toBeCloseTo(300, -1);
    expect(quota.getReservedBy("b")).toBeCloseTo(300, -1);
  });

  it("names the reason of a refusal", () => {
    const quota = new Quota({ capacity: 10, maxPerHolder: 4 });
    expect(quota.reserve("a", 5)).toBe("share");
    expect(quota.reserve("a", 11)).toBe("capacity");
    expect(quota.reserve("a", 4)).toBeUndefined();
    expect(quota.reserve("a", 1)).toBe("share");
  });

  it("keeps the sum of all holders within the capacity, and forgets holders without reservations", () => {
    const step = fc.record({
      holder: fc.constantFrom("a", "b", "c", "d"),
      amount: fc.integer({ min: 1, max: 60 }),
      releases: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const quota = new Quota({ capacity: 100 });
        const held = new Map<string, number[]>();
        for (const { holder, amount, releases } of steps) {
          const amounts = held.get(holder) ?? [];
          held.set(holder, amounts);
          const first = amounts[0];
          if (releases && first !== undefined) quota.release(holder, amounts.shift() ?? 0);
          else if (quota.reserve(holder, amount) === undefined) amounts.push(amount);
          else if (amounts.length === 0) expect(amount).toBeGreaterThan(100 - quota.reserved);
          const sums = [...held].map(([, list]) => list.reduce((sum, next) => sum + next, 0));
          expect(quota.reserved).toBe(sums.reduce((sum, next) => sum + next, 0));
          expect(quota.reserved).toBeLessThanOrEqual(100);
        }
        for (const [holder, amounts] of held) for (const amount of amounts) quota.release(holder, amount);
        expect(quota.reserved).toBe(0);
        expect([...held.keys()].map((holder) => quota.getReservedBy(holder))).toEqual([...held].map(() => 0));
      }),
    );
  });
});
