/**
 * Simulates several nodes with faults (docs/simulation.md).
 *
 *   npm run simulate -- [--seeds N] [--seed FIRST] [--steps K]
 *   npm run simulate -- --seed S --trace       prints every step of one seed
 */
import { parseArgs } from "node:util";
import { runSimulation } from "./simulation.ts";
import { shrinkSchedule } from "./shrink-schedule.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "500" },
    shrink: { type: "boolean", default: false },
    trace: { type: "boolean", default: false },
  },
});
process.on("unhandledRejection", (error) => {
  console.error("unhandled rejection", error);
  process.exit(2);
});
const first = Number(values.seed);
const count = values.trace ? 1 : Number(values.seeds);
const startedAt = performance.now();
let steps = 0,
  faults = 0,
  minSteps = Infinity,
  minFaults = Infinity,
  bad = 0;
for (let seed = first; seed < first + count; seed++) {
  const options = { seed, steps: Number(values.steps) };
  const result = await runSimulation({
    ...options,
    ...(values.trace ? { onLine: (line: string) => console.log(line) } : {}),
  });
  steps += result.stepCount;
  faults += result.faultCount;
  minSteps = Math.min(minSteps, result.stepCount);
  minFaults = Math.min(minFaults, result.faultCount);
  if (result.broken) {
    bad++;
    if (values.shrink) {
      const shrunk = await shrinkSchedule(options, result);
      await runSimulation({ ...shrunk.options, onLine: (line) => console.log(line) });
      console.log(shrunk.settings, shrunk.broken);
    }
    console.log(
      `seed ${seed}: ${result.broken.promise}: ${result.broken.text} (step ${result.stepCount}, ${(result.durationMs / 1000).toFixed(1)} s, actions ${result.actionCount}, ${result.settings.policy.afterRestart})`,
    );
  }
}
const seconds = (performance.now() - startedAt) / 1000;
console.log(
  `${count} seeds, ${steps} steps, ${faults} faults, at least ${minSteps} steps and ${minFaults} faults per seed, ${bad} bad, ${seconds.toFixed(1)} s`,
);
