/**
 * Simulates several nodes on one database, with faults (docs/simulation.md). Exits with 1 if a promise is broken.
 *
 *   npm run lab -- simulation [--seeds N] [--seed FIRST] [--steps K] [--processes P]
 *   npm run lab -- simulation --seed S --trace      prints every step of one simulation
 *   npm run lab -- simulation --mutants             counts the seeds until each planted mutant is noticed
 */
import { on, once } from "node:events";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, type MessagePort, parentPort, Worker } from "node:worker_threads";
import { findSeedsUntilNoticed, PLANTED_MUTANTS } from "./planted-mutants.ts";
import { addTotals, formatTotals, NO_SEEDS, runSeeds, type SeedRange, type SeedTotals } from "./run-seeds.ts";
import { shrinkSchedule } from "./shrink-schedule.ts";
import { runSimulation } from "./simulation.ts";

const SEEDS_PER_CHUNK = 100;
/** Size at which a garbage collection finds that most objects of past steps are unused. */
const YOUNG_GENERATION_MB = 64;
/** Number of broken simulations that are shrunk and printed. */
const MAX_PRINTED = 3;

// Errors are frequent in a simulation, and their stacks are expensive.
Error.stackTraceLimit = 0;
process.on("unhandledRejection", (error) => {
  console.error("A promise was rejected, and nothing has handled the rejection:", error);
  process.exit(1);
});

if (isMainThread) process.exitCode = (await main()) ? 0 : 1;
else
  for await (const [range] of on(parentPort as MessagePort, "message"))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    parentPort?.postMessage(await runSeeds(range as SeedRange));

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      steps: { type: "string", default: "500" },
      processes: { type: "string", default: String(availableParallelism()) },
      trace: { type: "boolean", default: false },
      mutants: { type: "boolean", default: false },
      "first-broken": { type: "boolean", default: false },
    },
  });
  const range = { first: Number(values.seed), count: Number(values.seeds), steps: Number(values.steps) };
  if (values.trace) return await traceSeed(range);
  if (values.mutants) return await runMutants(range.steps);
  if (values["first-broken"]) {
    const { seedCount, broken } = await runSeeds(range, true);
    if (broken.length > 0) console.log(`noticed after ${seedCount} seeds: ${broken[0]?.broken?.text}`);
    return broken.length === 0;
  }
  return await runAllSeeds(range, Number(values.processes));
}

async function traceSeed({ first: seed, steps }: SeedRange): Promise<boolean> {
  const { broken, hash } = await runSimulation({ seed, steps, onLine: (line) => console.log(line) });
  console.log(`hash ${hash}`);
  if (broken) console.log(`${broken.promise}: ${broken.text}`);
  return broken === undefined;
}

async function runMutants(steps: number): Promise<boolean> {
  let isSuccess = true;
  for (const mutant of PLANTED_MUTANTS) {
    const count = await findSeedsUntilNoticed(mutant, steps);
    if (count === undefined) isSuccess = false;
    console.log(`${mutant.name}: ${count === undefined ? "UNNOTICED" : `noticed after ${count} seeds`}`);
  }
  return isSuccess;
}

async function runAllSeeds(range: SeedRange, processes: number): Promise<boolean> {
  const startedAt = performance.now();
  let next = range.first;
  const end = range.first + range.count;
  let totals = NO_SEEDS;
  const runChunks = async (): Promise<void> => {
    const worker = new Worker(import.meta.filename, {
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    while (next < end && totals.broken.length < MAX_PRINTED) {
      const first = next;
      next = Math.min(end, next + SEEDS_PER_CHUNK);
      const part = await runInWorker(worker, { ...range, first, count: next - first });
      totals = addTotals(totals, part);
      process.stderr.write(`\r${formatTotals(totals)} `);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: processes }, runChunks));
  process.stderr.write("\n");
  for (const result of totals.broken.slice(0, MAX_PRINTED)) {
    const shrunk = await shrinkSchedule({ seed: result.seed, steps: range.steps }, result);
    console.log(`seed ${result.seed}: ${result.broken?.promise}: ${result.broken?.text}`);
    console.log(`  shortest schedule: ${shrunk.broken?.promise}: ${shrunk.broken?.text}`);
    for (const line of shrunk.schedule) console.log(`    ${line}`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${formatTotals(totals)}, in ${seconds.toFixed(0)} s`);
  return totals.broken.length === 0;
}

async function runInWorker(worker: Worker, range: SeedRange): Promise<SeedTotals> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  worker.postMessage(range);
  const [totals] = await once(worker, "message");
  return totals as SeedTotals;
}
