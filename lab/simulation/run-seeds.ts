import type { DatabaseDefects } from "./simulated-database.ts";
import { runSimulation, type SimulationResult } from "./simulation.ts";

/** The seeds of a run. */
export interface SeedRange {
  readonly first: number;
  readonly count: number;
  /** Steps of each simulation before all faults end. */
  readonly steps: number;
  readonly defects?: DatabaseDefects | undefined;
}

/** Sums and minimums of the simulations of a run. */
export interface SeedTotals {
  readonly seedCount: number;
  readonly stepCount: number;
  readonly faultCount: number;
  readonly minSteps: number;
  readonly minFaults: number;
  /** Results of the simulations that broke a promise. */
  readonly broken: readonly SimulationResult[];
}

export const NO_SEEDS: SeedTotals = {
  seedCount: 0,
  stepCount: 0,
  faultCount: 0,
  minSteps: Infinity,
  minFaults: Infinity,
  broken: [],
};

export function addTotals(a: SeedTotals, b: SeedTotals): SeedTotals {
  return {
    seedCount: a.seedCount + b.seedCount,
    stepCount: a.stepCount + b.stepCount,
    faultCount: a.faultCount + b.faultCount,
    minSteps: Math.min(a.minSteps, b.minSteps),
    minFaults: Math.min(a.minFaults, b.minFaults),
    broken: [...a.broken, ...b.broken],
  };
}

/** Runs one simulation per seed. With `stopsAtFirst`, the run ends with the first broken promise. */
export async function runSeeds(range: SeedRange, stopsAtFirst = false): Promise<SeedTotals> {
  let totals = NO_SEEDS;
  for (let seed = range.first; seed < range.first + range.count; seed++) {
    const result = await runSimulation({ seed, steps: range.steps, defects: range.defects ?? {} });
    const { stepCount, faultCount, broken } = result;
    totals = addTotals(totals, {
      seedCount: 1,
      stepCount,
      faultCount,
      // A broken promise ends its simulation early.
      minSteps: broken ? Infinity : stepCount,
      minFaults: broken ? Infinity : faultCount,
      broken: broken ? [result] : [],
    });
    if (broken && stopsAtFirst) break;
  }
  return totals;
}

export function formatTotals({
  seedCount,
  stepCount,
  faultCount,
  minSteps,
  minFaults,
  broken,
}: SeedTotals): string {
  return (
    `${seedCount} seeds, ${stepCount} steps, ${faultCount} faults, at least ${minSteps} steps and ${minFaults} faults ` +
    `per seed, ${broken.length} with a broken promise`
  );
}
