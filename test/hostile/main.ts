/**
 * Attacks servers and clients of Colloquy, and checks that each attack stays below its bars. Takes at most ten minutes
 * on two cores.
 *
 *   npm run hostile -- [--only TEXT] [--seed TEXT] [--json]
 */
import { parseArgs } from "node:util";
import { isDefended, renderAttackOutcome } from "./attack-outcome.ts";
import { listAttackNames, runAttack } from "./run-attack.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seed: { type: "string", default: "colloquy" },
    json: { type: "boolean", default: false },
  },
});

const outcomes = [];
for (const name of listAttackNames().filter((one) => one.includes(values.only))) {
  process.stderr.write(`${name} …\n`);
  const outcome = await runAttack(name, values.seed);
  outcomes.push(outcome);
  if (!values.json) console.log(renderAttackOutcome(outcome));
}
if (values.json) console.log(JSON.stringify(outcomes, undefined, 2));
process.exit(outcomes.every(isDefended) ? 0 : 1);
