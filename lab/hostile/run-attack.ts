import { globSync } from "node:fs";
import { basename } from "node:path";
import { isCloseMiss, type AttackOutcome } from "./attack-outcome.ts";
import { loadAttack } from "./processes/load-attack.ts";
import { runBoundaryAttack, runClientAttack } from "./run-client-attack.ts";
import { runServerAttack } from "./run-server-attack.ts";

const MAX_ATTEMPTS = 3;

/** Returns the names of the attacks in `attacks/`. */
export function listAttackNames(): string[] {
  return globSync("attacks/*.ts", { cwd: import.meta.dirname })
    .map((file) => basename(file, ".ts"))
    .toSorted();
}

/** Runs an attack, and repeats it up to twice if it missed a bar by little. The result states the attempts. */
export async function runAttack(name: string, seed: string): Promise<AttackOutcome> {
  for (let attempts = 1; ; attempts++) {
    const outcome = await runAttackOnce(name, seed);
    if (attempts === MAX_ATTEMPTS || !isCloseMiss(outcome))
      return { ...outcome, figures: { ...outcome.figures, attempts } };
  }
}

async function runAttackOnce(name: string, seed: string): Promise<AttackOutcome> {
  const attack = await loadAttack(name);
  if (attack.kind === "server") return await runServerAttack(name, attack, seed);
  return attack.kind === "client"
    ? await runClientAttack(name, attack)
    : await runBoundaryAttack(name, attack);
}
