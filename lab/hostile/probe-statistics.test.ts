import { describe, expect, it } from "vitest";
import { computeExcessStall, computeLatencyPercentile, type ProbeSample } from "./probe-statistics.ts";

const sample = (endedAt: number, latencyMs: number): ProbeSample => ({ endedAt, latencyMs });

describe("the excess stall of a probe", () => {
  it("is the delay of the target that the control server does not share", () => {
    const control = [sample(10, 2), sample(300, 3), sample(600, 2)];
    expect(computeExcessStall([sample(12, 2), sample(500, 250)], control)).toBe(247);
  });

  it("excludes delays of the machine, which delay both servers", () => {
    expect(computeExcessStall([sample(500, 400)], [sample(510, 390)])).toBe(10);
  });

  it("includes delays of the target after those of the machine", () => {
    expect(computeExcessStall([sample(2000, 300)], [sample(510, 390), sample(1900, 5)])).toBe(295);
  });
});

describe("a percentile of the latency", () => {
  it("is the latency that the given fraction of samples does not exceed", () => {
    const samples = Array.from({ length: 200 }, (_, at) => sample(at, 200 - at));
    expect(computeLatencyPercentile(samples, 0.99)).toBe(199);
    expect(computeLatencyPercentile([], 0.99)).toBe(0);
  });
});
