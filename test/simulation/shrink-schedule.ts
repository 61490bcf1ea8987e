import { runSimulation, type SimulationOptions, type SimulationResult } from "./simulation.ts";

/**
 * Leaves out planned actions of a simulation that breaks a promise, as long as it still breaks the same promise. The
 * result has no action without which the promise is still broken.
 */
export async function shrinkSchedule(
  options: SimulationOptions,
  broken: SimulationResult,
): Promise<SimulationResult & { readonly options: SimulationOptions }> {
  const promise = broken.broken?.promise;
  let smallest = { ...broken, options: { ...options, actionCount: broken.actionCount } };
  const tryWithout = async (leftOut: ReadonlySet<number>): Promise<boolean> => {
    const shorter = { ...smallest.options, leftOut };
    const result = await runSimulation(shorter);
    if (result.broken?.promise !== promise) return false;
    smallest = { ...result, options: shorter };
    return true;
  };
  for (let size = Math.ceil(broken.actionCount / 2); ; size = Math.ceil(size / 2)) {
    let hasShrunk = false;
    const { leftOut = new Set() } = smallest.options;
    const left = Array.from({ length: broken.actionCount }, (_, at) => at).filter((at) => !leftOut.has(at));
    for (let at = 0; at < left.length; at += size) {
      const without = new Set([...(smallest.options.leftOut ?? []), ...left.slice(at, at + size)]);
      if (await tryWithout(without)) hasShrunk = true;
    }
    if (size === 1 && !hasShrunk) return smallest;
  }
}
