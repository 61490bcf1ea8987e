import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareRuns,
  computeMcNemarTest,
  computeNewcombeInterval,
  computePairedBootstrap,
  assertComparableRuns,
  createSeededRandom,
  summarizeDistribution,
  computeWilsonInterval,
  type IntervalEstimate,
  type ScoredRun,
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

describe("the paired bootstrap", () => {
  // R: qbinom(c(.025, .975), 100, .5) is 40 60; the mean of 100 values, half of them 1, is so distributed.
  it("has the quantiles of the binomial distribution", () => {
    const pairs = Array.from({ length: 100 }, (_, index) => [index % 2, 0] as const);
    const { value, low, high } = computePairedBootstrap(pairs, (first) => first, 20_000);
    expect([value, low, high]).toEqual([50, 40, 60]);
  });

  it("draws pairs together, so that a constant ratio has an interval of width 0", () => {
    const pairs = Array.from({ length: 50 }, (_, index) => [index + 1, 3 * (index + 1)] as const);
    expect(computePairedBootstrap(pairs, (first, second) => second / first)).toEqual({
      value: 3,
      low: 3,
      high: 3,
    });
  });

  it("has the same interval each time", () => {
    const pairs = Array.from({ length: 30 }, (_, index) => [index, index * index] as const);
    const compute = (): unknown => computePairedBootstrap(pairs, (first, second) => second - first);
    expect(compute()).toEqual(compute());
  });

  it("rejects an empty list", () => {
    expect(() => computePairedBootstrap([], () => 0)).toThrow("Nothing to resample");
  });

  it("draws uniformly", () => {
    const random = createSeededRandom(42);
    const drawn = Array.from({ length: 100_000 }, random);
    expect(drawn.every((number) => number >= 0 && number < 1)).toBe(true);
    const counts = Array.from(
      { length: 10 },
      (_, bin) => drawn.filter((number) => Math.floor(number * 10) === bin).length,
    );
    // 4 standard deviations of a count of 10,000 are 380.
    expect(counts.filter((count) => Math.abs(count - 10_000) > 380)).toEqual([]);
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

describe("two runs", () => {
  const createScore = (correct: boolean, tokens: number | undefined, isCompleted = true) => ({
    correct,
    gold: "18",
    question: "How many?",
    isCompleted,
    tokens,
  });
  const run = (name: string, correct: readonly boolean[], change: Partial<ScoredRun> = {}): ScoredRun => ({
    name,
    dataset: "gsm8k",
    evidence: "recorded-model",
    rule: "number",
    samples: new Map(correct.map((is, index) => [`gsm8k_${index}`, createScore(is, 100 * (index + 1))])),
    ...change,
  });
  // 30 problems: 25 and 20 are right, 6 only by the first, 1 only by the second.
  const first = run(
    "cot",
    Array.from({ length: 30 }, (_, index) => index < 25),
  );
  const second = run(
    "a2a",
    Array.from({ length: 30 }, (_, index) => index < 19 || index === 29),
  );

  it("are compared by problem", () => {
    const comparison = compareRuns(first, second);
    expect(comparison).toMatchObject({
      samples: 30,
      first: computeWilsonInterval(25, 30),
      second: computeWilsonInterval(20, 30),
      onlyFirst: 6,
      onlySecond: 1,
      p: computeMcNemarTest(6, 1),
      tokenRatio: { value: 1, low: 1, high: 1 },
    });
    expect(comparison.p.exact).toBeCloseTo(0.125, 12);
    expect(comparison.difference.value).toBeCloseTo(-5 / 30, 12);
    expect(comparison.difference.low).toBeLessThan(-5 / 30);
    expect(comparison.difference.high).toBeGreaterThan(-5 / 30);
  });

  it("are compared in any order of their samples", () => {
    const reversed = { ...second, samples: new Map([...second.samples].toReversed()) };
    expect(compareRuns(first, reversed)).toEqual(compareRuns(first, second));
  });

  it.each<[string, ScoredRun]>([
    [
      "Cannot compare cot and oracle: their evidence differs: recorded-model and oracle. To do: compare runs of one evidence.",
      run("oracle", [true], { evidence: "oracle" }),
    ],
    ["their dataset differs: gsm8k and hotpotqa", run("other", [true], { dataset: "hotpotqa" })],
    ["their rule differs: number and exact", run("other", [true], { rule: "exact" })],
    ["only one of them has gsm8k_1", run("short", [true])],
    [
      "only one of them has gsm8k_30",
      run(
        "long",
        Array.from({ length: 31 }, () => true),
      ),
    ],
  ])("are rejected: %s", (message, other) => {
    expect(() => compareRuns(first, other)).toThrow(message);
    expect(() => assertComparableRuns([first, second, other])).toThrow(message);
  });

  it.each([
    ["another correct answer", { gold: "3" }],
    ["another text", { question: "How much?" }],
  ])("are rejected if a problem has %s", (_, change) => {
    const samples = new Map(second.samples).set("gsm8k_3", { ...createScore(true, 1), ...change });
    expect(() => compareRuns(first, { ...second, samples })).toThrow(
      "Cannot compare cot and a2a: gsm8k_3 is another problem in each of them. To do: run both on the same data.",
    );
  });

  it("are comparable if one of them replays recorded answers of a model", () => {
    expect(compareRuns(first, { ...second, evidence: "live-model" }).samples).toBe(30);
  });

  it("have a token ratio over the problems that both completed, because failures are cheap", () => {
    const failsEarly = (share: number): ScoredRun => ({
      ...second,
      samples: new Map(
        [...first.samples].map(([id, { tokens = 0 }], index) => [
          id,
          index < share ? createScore(false, 1, false) : createScore(true, tokens * 2),
        ]),
      ),
    });
    expect(compareRuns(first, failsEarly(10)).tokenRatio).toEqual({ value: 2, low: 2, high: 2 });
    expect(compareRuns(first, failsEarly(30)).tokenRatio).toBeUndefined();
  });

  it("are rejected without scores", () => {
    expect(() => compareRuns(run("empty", []), run("empty", []))).toThrow("it has no scored samples");
  });

  it("have no token ratio if the tokens of one sample are unknown", () => {
    const samples = new Map(second.samples).set("gsm8k_3", createScore(true, undefined));
    expect(compareRuns(first, { ...second, samples }).tokenRatio).toBeUndefined();
  });
});
