import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  computeClusteredDifference,
  computeClusteredInterval,
  computeMcNemarTest,
  computeNewcombeInterval,
  summarizeDistribution,
  computeWilsonInterval,
  type IntervalEstimate,
} from "./index.ts";

const Z_99_PERCENT = 2.5758293035489004;

describe("Wilson's interval", () => {
  // Newcombe 1998, Statistics in Medicine 17, table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("of %d in %d is %d to %d", (successes, trials, low, high) => {
    const interval = computeWilsonInterval(successes, trials);
    expect(interval.value).toBe(successes / trials);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  // R: prop.test(319, 1100, conf.level = 0.99, correct = FALSE), stats.stackexchange.com/questions/183225.
  it("equals that of R at 99 %", () => {
    const { low, high } = computeWilsonInterval(319, 1_100, Z_99_PERCENT);
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(["0.2561", "0.3264"]);
  });

  it("lies between 0 and 1, contains its value, and grows with the confidence level", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (trials, share) => {
          const successes = Math.round(trials * share);
          const widths = [1.645, undefined, Z_99_PERCENT].map((z) => {
            const { value, low, high } = computeWilsonInterval(successes, trials, z);
            expect(low).toBeGreaterThanOrEqual(0);
            expect(high).toBeLessThanOrEqual(1);
            expect(value).toBeGreaterThanOrEqual(low - 1e-12);
            expect(value).toBeLessThanOrEqual(high + 1e-12);
            return high - low;
          });
          expect(widths).toEqual(widths.toSorted((a, b) => a - b));
        },
      ),
    );
  });

  it.each([
    [0, 0],
    [3, 2],
    [-1, 2],
    [0.5, 2],
  ])("rejects %d of %d", (successes, trials) => {
    expect(() => computeWilsonInterval(successes, trials)).toThrow(`${successes} of ${trials}:`);
  });
});

describe("McNemar's test", () => {
  // Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13:91, table 1 (Bentur et al.): 1 and 7.
  it("has the published p-values of airway hyper-responsiveness", () => {
    expect(computeMcNemarTest(1, 7)).toEqual({
      exact: expect.closeTo(0.0703125, 12),
      midP: expect.closeTo(0.0390625, 12),
    });
  });

  // Agresti 1990, p. 350, in R's ?mcnemar.test: 86 and 150. Sums of binomials in whole numbers: 3.715936139571442e-5.
  it("is exact for the approval ratings of a president", () => {
    const { exact, midP } = computeMcNemarTest(150, 86);
    expect(exact / 3.715936139571442e-5).toBeCloseTo(1, 10);
    expect(midP / 2.89338951761549e-5).toBeCloseTo(1, 10);
  });

  it("does not underflow for thousands of pairs", () => {
    expect(computeMcNemarTest(500, 700).exact / 8.535366081034334e-9).toBeCloseTo(1, 9);
    expect(computeMcNemarTest(5_000, 5_000)).toEqual({ exact: 1, midP: expect.closeTo(0.996, 3) });
  });

  it("is 1 without differences, and symmetric", () => {
    expect(computeMcNemarTest(0, 0)).toEqual({ exact: 1, midP: 1 });
    expect(computeMcNemarTest(2, 8)).toEqual(computeMcNemarTest(8, 2));
    expect(() => computeMcNemarTest(1.5, 2)).toThrow("1.5 discordant pairs");
  });
});

describe("Newcombe's interval of paired proportions", () => {
  const compute = (both: number, onlyFirst: number, onlySecond: number, none: number): IntervalEstimate =>
    computeNewcombeInterval([
      ...Array.from({ length: both }, () => [true, true] as const),
      ...Array.from({ length: onlyFirst }, () => [true, false] as const),
      ...Array.from({ length: onlySecond }, () => [false, true] as const),
      ...Array.from({ length: none }, () => [false, false] as const),
    ]);

  // Fagerland, Lydersen, and Laake 2017, Statistical Analysis of Contingency Tables, chapter 8: complete response
  // before and after consolidation therapy (Cavo et al. 2012). R package contingencytables: -0.0621 (-0.1186 to -0.0046)
  // for the first minus the second proportion.
  it("has the published limits of the complete response to a therapy", () => {
    const { value, low, high } = compute(59, 6, 16, 80);
    expect([value, low, high].map((limit) => limit.toFixed(4))).toEqual(["0.0621", "0.0046", "0.1186"]);
  });

  // The same authors 2014, Statistics in Medicine 33, 2850–2875: airway hyper-responsiveness (Bentur et al. 2009).
  it("has the published limits of airway hyper-responsiveness", () => {
    const { value, low, high } = compute(1, 1, 7, 12);
    expect([value, low, high].map((limit) => limit.toFixed(3))).toEqual(["0.286", "0.026", "0.507"]);
  });

  it("is never empty, contains its value, and is symmetric", () => {
    const count = fc.integer({ min: 0, max: 30 });
    fc.assert(
      fc.property(count, count, count, count, (both, onlyFirst, onlySecond, none) => {
        fc.pre(both + onlyFirst + onlySecond + none > 0);
        const { value, low, high } = compute(both, onlyFirst, onlySecond, none);
        expect(high - low).toBeGreaterThan(0);
        expect(low).toBeGreaterThanOrEqual(-1);
        expect(high).toBeLessThanOrEqual(1);
        expect(value).toBeGreaterThanOrEqual(low - 1e-12);
        expect(value).toBeLessThanOrEqual(high + 1e-12);
        const other = compute(both, onlySecond, onlyFirst, none);
        expect(other.low).toBeCloseTo(-high, 12);
      }),
    );
  });
});

describe("the interval of runs that are repeated on the same problems", () => {
  const shares = [3, 2, 0, 2, 3, 1, 0, 2].map((correct) => correct / 3);
  const others = [3, 1, 0, 1, 3, 0, 1, 1].map((correct) => correct / 3);

  // statsmodels 0.14: OLS(y, 1).fit(cov_type="cluster").bse ** 2 is 0.01959325, so the effective size is 12.670887, and
  // proportion_confint(0.541667 * 12.670887, 12.670887, method="wilson") is (0.291452, 0.772495).
  it("has the cluster-robust variance and Wilson's limits of statsmodels", () => {
    const { value, low, high } = computeClusteredInterval(shares, 3);
    expect([value, low, high].map((limit) => limit.toFixed(6))).toEqual(["0.541667", "0.291452", "0.772495"]);
  });

  it("is that of the problems if all runs agree, and never empty", () => {
    expect(computeClusteredInterval([1, 1, 1, 1], 3)).toEqual(computeWilsonInterval(4, 4));
    const { low, high } = computeClusteredDifference([1, 1, 1, 1], [1, 1, 1, 1], 3);
    expect([low < 0, high > 0]).toEqual([true, true]);
  });

  it("is narrower for a difference if the same problems are difficult for both", () => {
    const paired = computeClusteredDifference(shares, others, 3);
    const unpaired = computeClusteredDifference(shares, others.toReversed(), 3);
    expect(paired.value).toBeCloseTo(-0.125, 12);
    expect(paired.high - paired.low).toBeLessThan(unpaired.high - unpaired.low);
    const reversed = computeClusteredDifference(others, shares, 3);
    expect([reversed.low, reversed.high]).toEqual([
      expect.closeTo(-paired.high, 12),
      expect.closeTo(-paired.low, 12),
    ]);
  });
});

describe("a distribution", () => {
  // R: quantile(c(1, 2, 3, 4, 10), c(.5, .95)) is 3 and 8.8.
  it("has the quantiles of R", () => {
    expect(summarizeDistribution([10, 1, 3, 2, 4])).toEqual({
      count: 5,
      sum: 20,
      mean: 4,
      median: 3,
      p95: expect.closeTo(8.8, 12),
    });
    expect(summarizeDistribution([])).toMatchObject({
      count: 0,
      sum: 0,
      mean: Number.NaN,
      median: Number.NaN,
    });
  });
});
