import { describe, expect, it } from "vitest";
import { PLANTED_MUTANTS } from "./planted-mutants.ts";
import { runSeeds } from "./run-seeds.ts";
import { shrinkSchedule } from "./shrink-schedule.ts";
import { runSimulation } from "./simulation.ts";

describe("a simulation of several nodes", () => {
  it("keeps all promises with crashes, pauses, partitions, lost hints, and lost results [E1, E3, E7, E8, E9, E10, E11, E12, E13, E16, E17, E18, E21]", async () => {
    const { broken, minSteps, minFaults } = await runSeeds({ first: 1, count: 60, steps: 500 });
    expect(broken.map((result) => [result.seed, result.broken])).toEqual([]);
    expect(minSteps).toBeGreaterThanOrEqual(500);
    expect(minFaults).toBeGreaterThanOrEqual(5);
  });

  it("performs the same steps for the same seed, and other steps for another seed", async () => {
    const [first, again, other] = [
      await runSimulation({ seed: 7 }),
      await runSimulation({ seed: 7 }),
      await runSimulation({ seed: 8 }),
    ];
    expect(again).toEqual(first);
    expect(other.hash).not.toBe(first.hash);
  });

  it.each(PLANTED_MUTANTS.flatMap((mutant) => ("defects" in mutant ? [mutant] : [])))(
    "notices a database with $name",
    async ({ defects, firstSeed = 1 }) => {
      const { broken } = await runSeeds({ first: firstSeed, count: 1000, steps: 500, defects }, true);
      expect(broken).toHaveLength(1);
    },
  );

  it("shrinks a schedule to the actions that break the promise", async () => {
    const options = { seed: 1, defects: { expiresEarly: true } };
    let result = await runSimulation(options);
    while (!result.broken) result = await runSimulation({ ...options, seed: ++options.seed });
    const shrunk = await shrinkSchedule(options, result);
    expect(shrunk.broken?.promise).toBe(result.broken.promise);
    expect(shrunk.schedule.length).toBeLessThan(result.actionCount);
    expect((await runSimulation(shrunk.options)).broken).toEqual(shrunk.broken);
  });
});
