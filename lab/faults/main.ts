/**
 * Injects real faults into a server under load: a full file system, another program's lock, failed syncs, and
 * changes of the wall clock. After each fault, no task may be stuck, no event may be lost or changed, and
 * finished tasks must have been served throughout. Requires Linux, root, and gcc. Takes about five minutes.
 *
 *   npm run lab -- faults [--only TEXT] [--json]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { FAULT_SCENARIOS } from "./fault-scenarios.ts";
import { runFaultScenario, type FaultOutcome } from "./run-fault-scenario.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, json: { type: "boolean", default: false } },
});

if (process.platform !== "linux" || process.getuid?.() !== 0) {
  console.error("The faults need Linux and root, because they mount a small file system.");
  process.exit(2);
}
const outcomes: FaultOutcome[] = [];
for (const scenario of FAULT_SCENARIOS.filter(({ name }) => name.includes(values.only))) {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-faults-"));
  try {
    const outcome = await runFaultScenario(scenario, folder);
    outcomes.push(outcome);
    if (!values.json) printOutcome(outcome);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
if (values.json) console.log(JSON.stringify(outcomes, undefined, 2));
process.exit(outcomes.every(({ problems }) => problems.length === 0) ? 0 : 1);

function printOutcome({ scenario, problems, figures }: FaultOutcome): void {
  const text = Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"} ${scenario}: ${text}`);
  for (const problem of problems.slice(0, 10)) console.log(`       ${problem}`);
  if (problems.length > 10) console.log(`       and ${problems.length - 10} more`);
}
