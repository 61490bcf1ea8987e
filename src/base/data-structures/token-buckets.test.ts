import * as fc from "fast-check";
import { expect, it } from "vitest";
import { TokenBuckets } from "./token-buckets.ts";

it("a holder takes at most its burst and its rate, whenever it asks", () => {
  const parameters = fc.record({
    ratePerSecond: fc.integer({ min: 1, max: 500 }),
    burst: fc.integer({ min: 1, max: 50 }),
    pausesMs: fc.array(fc.nat(40), { minLength: 1, maxLength: 200 }),
  });
  fc.assert(
    fc.property(parameters, ({ ratePerSecond, burst, pausesMs }) => {
      const buckets = new TokenBuckets({ ratePerSecond, burst });
      let [now, taken] = [1000, 0];
      for (const pauseMs of pausesMs) {
        now += pauseMs;
        for (let attempt = 0; attempt < 5 && buckets.findDelay("a", now) === 0; attempt++) {
          buckets.takeToken("a", now);
          taken++;
        }
        expect(taken).toBeLessThanOrEqual(burst + (ratePerSecond * (now - 1000)) / 1000 + 1e-6);
      }
    }),
  );
});

it("the delay ends exactly when a token is available, for each holder alone", () => {
  const buckets = new TokenBuckets({ ratePerSecond: 10, burst: 2 });
  for (let count = 0; count < 2; count++) buckets.takeToken("a", 0);
  expect([buckets.findDelay("a", 0), buckets.findDelay("b", 0)]).toEqual([100, 0]);
  expect([buckets.findDelay("a", 60), buckets.findDelay("a", 100)]).toEqual([40, 0]);
});

it("tokens taken in advance lengthen the delay, and an infinite rate has none", () => {
  const buckets = new TokenBuckets({ ratePerSecond: 10, burst: 1 });
  for (let count = 0; count < 4; count++) buckets.takeToken("a", 0);
  expect(buckets.findDelay("a", 0)).toBe(400);
  const unlimited = new TokenBuckets({ ratePerSecond: Infinity });
  for (let count = 0; count < 1000; count++) unlimited.takeToken("a", 0);
  expect(unlimited.findDelay("a", 0)).toBe(0);
});

it("holders with full buckets use no memory", () => {
  const buckets = new TokenBuckets({ ratePerSecond: 10 });
  for (let at = 0; at < 1000; at++) buckets.takeToken(`holder ${at}`, at * 1000);
  expect(buckets.size).toBe(1);
});
