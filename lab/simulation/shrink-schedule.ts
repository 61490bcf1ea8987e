import { formatAction, drawAction } from "./plan.ts";
import { runSimulation, type SimulationOptions, type SimulationResult } from "./simulation.ts";

/** A simulation with few actions that breaks the same promise. */
export interface ShrunkSimulation extends SimulationResult {
  readonly options: SimulationOptions;
  /** The remaining actions, each on one line. */
  readonly schedule: readonly string[];
}

/**
 * Leaves out planned actions of a simulation that breaks a promise, as long as it still breaks the same promise. First
 * leaves out halves of the plan, and single actions at the end.
 */
export async function shrinkSchedule(
  options: SimulationOptions,
  broken: SimulationResult,
): Promise<ShrunkSimulation> {
  const { actionCount, settings } = broken;
  let smallest = broken;
  let left = Array.from({ length: actionCount }, (_, at) => at);
  const withOnly = (kept: readonly number[]): SimulationOptions => ({
    ...options,
    actionCount,
    leftOut: new Set(Array.from({ length: actionCount }, (_, at) => at).filter((at) => !kept.includes(at))),
  });
  for (
    let size = Math.ceil(actionCount / 2), hasShrunk = true;
    size > 1 || hasShrunk;
    size = Math.ceil(size / 2)
  ) {
    hasShrunk = false;
    for (let at = 0; at < left.length;) {
      const kept = left.toSpliced(at, size);
      const result = await runSimulation(withOnly(kept));
      if (result.broken?.promise === broken.broken?.promise) {
        [left, smallest, hasShrunk] = [kept, result, true];
      } else at += size;
    }
  }
  return {
    ...smallest,
    options: withOnly(left),
    schedule: left.map((at) => formatAction(drawAction(settings, at))),
  };
}
