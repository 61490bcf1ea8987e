/**
 * Injects faults into clusters of real processes on a real PostgreSQL (docs/chaos.md), and measures what clients notice.
 *
 *   npm run lab -- chaos [--only TEXT] [--fault NAME] [--full] [--json] [--table]
 *   npm run lab -- chaos --system a2a-python     the comparable faults on the cluster of the Python SDK
 */
import { parseArgs } from "node:util";
import { holdsPromise, renderChaosOutcome, renderChaosTable, type ChaosOutcome } from "./chaos-outcome.ts";
import { importFault, listFaultNames, runChaosFault } from "./run-chaos-fault.ts";
import { findChaosSystems } from "./systems/find-chaos-systems.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    fault: { type: "string" },
    system: { type: "string", default: "" },
    full: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    table: { type: "boolean", default: false },
  },
});
const isQuiet = values.json || values.table;
const names = listFaultNames().filter((name) =>
  values.fault === undefined ? name.includes(values.only) : name === values.fault,
);
const faults = await Promise.all(names.map(async (name) => ({ name, ...(await importFault(name)) })));
const systems = await findChaosSystems({
  nameContains: values.system,
  isComparison: faults.some(({ isComparison }) => isComparison),
  report: (line) => console.error(line),
});
const outcomes: ChaosOutcome[] = [];
for (const { name, isComparison } of faults) {
  for (const system of systems) {
    if (!isComparison && !system.hasEventIds) continue;
    console.error(`fault ${name} (${system.name})`);
    const outcome = await runChaosFault(name, system, values.full);
    outcomes.push(outcome);
    if (!isQuiet) console.log(renderChaosOutcome(outcome));
  }
}
if (values.json) console.log(JSON.stringify(outcomes, undefined, 2));
if (values.table) console.log(renderChaosTable(outcomes));
// Other systems may break the promises, which are ours.
const isSuccess = outcomes.every((outcome) => outcome.system !== "colloquy" || holdsPromise(outcome));
process.exit(isSuccess ? 0 : 1);
