import { asyncProperty, assert, integer } from "fast-check";
import { describe, expect, it } from "vitest";
import { runTrials } from "./index.ts";

/** Counts the samples of `k` of `total` trials by enumeration. The first `passed` trials pass. */
function enumerateShares(passed: number, total: number, k: number): { any: number; all: number } {
  let [any, all, count] = [0, 0, 0];
  for (let set = 0; set < 2 ** total; set++) {
    const members = Array.from({ length: total }, (_, at) => at).filter((at) => set & (2 ** at));
    if (members.length !== k) continue;
    count++;
    if (members.some((at) => at < passed)) any++;
    if (members.every((at) => at < passed)) all++;
  }
  return { any: any / count, all: all / count };
}

describe("trials", () => {
  it("estimate pass@k and pass^k as the share of all samples of k trials", async () => {
    await assert(
      asyncProperty(
        integer({ min: 1, max: 8 }),
        integer({ min: 0, max: 8 }),
        integer({ min: 1, max: 8 }),
        async (total, passCount, size) => {
          const passed = Math.min(passCount, total);
          const k = Math.min(size, total);
          const report = await runTrials(total, (index) => {
            if (index >= passed) throw new Error("failed");
          });
          const { any, all } = enumerateShares(passed, total, k);
          expect(report.passed).toBe(passed);
          expect(report.passAtK(k)).toBeCloseTo(any, 10);
          expect(report.passHatK(k)).toBeCloseTo(all, 10);
        },
      ),
    );
  });

  it("run at most `concurrency` tests at a time, and keep the errors in order", async () => {
    let running = 0;
    let most = 0;
    const report = await runTrials(
      6,
      async (index) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (index % 2 === 1) throw index;
      },
      { concurrency: 3 },
    );
    expect(most).toBe(3);
    expect(report).toMatchObject({ trials: 6, passed: 3, errors: [1, 3, 5] });
  });

  it("need a number of trials, and at most as many samples", async () => {
    await expect(runTrials(0, () => {})).rejects.toThrow("use a whole number from 1");
    const report = await runTrials(2, () => {});
    expect(() => report.passAtK(3)).toThrow("use a whole number from 1 to 2");
    expect(() => report.passHatK(0)).toThrow("k is 0");
  });
});
