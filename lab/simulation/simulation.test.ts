import { describe, expect, it } from "vitest";
import { PLANTED_MUTANTS } from "./planted-mutants.ts";
import { runSeeds } from "./run-seeds.ts";
import { shrinkSchedule } from "./shrink-schedule.ts";
import { runSimulation } from "./simulation.ts";

describe("a simulation of several nodes", () => {
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
    const options = { seed: 1, defects: { expiresByDatabaseClock: true } };
    let result = await runSimulation(options);
    while (!result.broken) result = await runSimulation({ ...options, seed: ++options.seed });
    const shrunk = await shrinkSchedule(options, result);
    expect(shrunk.broken?.promise).toBe(result.broken.promise);
    expect(shrunk.schedule.length).toBeLessThan(result.actionCount);
    expect((await runSimulation(shrunk.options)).broken).toEqual(shrunk.broken);
  });
});
