/**
 * Attacks servers and clients of Colloquy, and sends mutated inputs to all of their interfaces (docs/hostile.md). Each
 * attack must stay below its bars, and no input may cause a crash or an internal error. Takes at most ten minutes on two
 * cores.
 *
 *   npm run lab -- hostile [--only TEXT | --attack NAME] [--seed TEXT] [--seconds N] [--json]
 *   npm run lab -- hostile --guards [--only TEXT]     removes each guard, and expects that its attack succeeds
 *   npm run lab -- hostile --without GUARD            removes one guard
 */
import { parseArgs } from "node:util";
import { isDefended, renderAttackOutcome, type AttackOutcome } from "./attack-outcome.ts";
import { FUZZERS } from "./fuzz/fuzzers.ts";
import { renderFuzzResult, type FuzzResult } from "./fuzz/fuzz-result.ts";
import { runWithoutGuards } from "./guards/run-without-guards.ts";
import { listAttackNames, runAttack } from "./run-attack.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    attack: { type: "string" },
    seed: { type: "string", default: "colloquy" },
    seconds: { type: "string", default: "600" },
    guards: { type: "boolean", default: false },
    without: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const deadline = performance.now() + Number(values.seconds) * 1000;
const isGuardRun = values.guards || values.without !== undefined;
const isSuccess = isGuardRun
  ? await runWithoutGuards(values.without, values.only, values.seed, reportProgress)
  : await attackAndFuzz();
process.exit(isSuccess ? 0 : 1);

async function attackAndFuzz(): Promise<boolean> {
  const attacks: AttackOutcome[] = [];
  const fuzzed: FuzzResult[] = [];
  for (const name of listAttackNames().filter(isSelected)) {
    reportProgress(`attack ${name}`);
    const outcome = await runAttack(name, values.seed);
    attacks.push(outcome);
    if (!values.json) console.log(renderAttackOutcome(outcome));
  }
  for (const [name, { run, count }] of Object.entries(FUZZERS)) {
    if (values.attack !== undefined || !`fuzz ${name}`.includes(values.only)) continue;
    const result = await run({
      seed: values.seed,
      count,
      deadline,
      reportProgress: (sent) => reportProgress(`fuzz ${name}: ${sent} of ${count}`),
    });
    fuzzed.push(result);
    if (!values.json) console.log(renderFuzzResult(result));
    if (result.sent < count) reportProgress(`fuzz ${name} stopped early: ${result.sent} of ${count} inputs`);
  }
  if (values.json) console.log(JSON.stringify({ attacks, fuzzed }, undefined, 2));
  return attacks.every(isDefended) && fuzzed.every(({ findings }) => findings.length === 0);
}

/** Returns whether the options select an attack. */
function isSelected(attackName: string): boolean {
  return values.attack === undefined ? attackName.includes(values.only) : attackName === values.attack;
}

/** Writes progress to stderr, so that it does not appear in the report. */
function reportProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}
