import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairShareLedger } from "./fair-share-ledger.ts";

function reserveUntilRefused(ledger: FairShareLedger, holder: string): number {
  while (ledger.reserve(holder, 1) === undefined);
  return ledger.getReservedBy(holder);
}

describe("FairShareLedger", () => {
  it("gives a single holder half of the capacity", () => {
    expect(reserveUntilRefused(new FairShareLedger({ capacity: 1000 }), "a")).toBe(500);
  });

  it("leaves capacity for a second and a third holder after a greedy one", () => {
    const ledger = new FairShareLedger({ capacity: 1000 });
    const shares = ["a", "b", "c"].map((holder) => reserveUntilRefused(ledger, holder));
    expect(shares).toEqual([500, 250, 125]);
  });

  it("converges to equal shares when the greedy holder releases and reserves again", () => {
    const ledger = new FairShareLedger({ capacity: 900 });
    reserveUntilRefused(ledger, "a");
    for (let round = 0; round < 1000; round++) {
      for (const holder of ["a", "b"]) {
        if (ledger.getReservedBy(holder) > 0) ledger.release(holder, 1);
        ledger.reserve(holder, 1);
        ledger.reserve(holder, 1);
      }
    }
    expect(ledger.getReservedBy("a")).toBeCloseTo(300, -1);
    expect(ledger.getReservedBy("b")).toBeCloseTo(300, -1);
  });

  it("names the reason of a refusal", () => {
    const ledger = new FairShareLedger({ capacity: 10, maxPerHolder: 4 });
    expect(ledger.reserve("a", 5)).toBe("share");
    expect(ledger.reserve("a", 11)).toBe("capacity");
    expect(ledger.reserve("a", 4)).toBeUndefined();
    expect(ledger.reserve("a", 1)).toBe("share");
  });

  it("keeps the sum of all holders within the capacity, and forgets holders without reservations", () => {
    const step = fc.record({
      holder: fc.constantFrom("a", "b", "c", "d"),
      amount: fc.integer({ min: 1, max: 60 }),
      releases: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ledger = new FairShareLedger({ capacity: 100 });
        const held = new Map<string, number[]>();
        for (const { holder, amount, releases } of steps) {
          const amounts = held.get(holder) ?? [];
          held.set(holder, amounts);
          const first = amounts[0];
          if (releases && first !== undefined) ledger.release(holder, amounts.shift() ?? 0);
          else if (ledger.reserve(holder, amount) === undefined) amounts.push(amount);
          else if (amounts.length === 0) expect(amount).toBeGreaterThan(100 - ledger.reserved);
          const sums = [...held].map(([, list]) => list.reduce((sum, next) => sum + next, 0));
          expect(ledger.reserved).toBe(sums.reduce((sum, next) => sum + next, 0));
          expect(ledger.reserved).toBeLessThanOrEqual(100);
        }
        for (const [holder, amounts] of held) for (const amount of amounts) ledger.release(holder, amount);
        expect(ledger.reserved).toBe(0);
        expect([...held.keys()].map((holder) => ledger.getReservedBy(holder))).toEqual(
          [...held].map(() => 0),
        );
      }),
    );
  });
});
