import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { isDefended, renderAttackOutcome, type AttackOutcome } from "../attack-outcome.ts";
import { removeGuard, type Guard } from "./guard.ts";
import { GUARDS } from "./guards.ts";

const ROOT = join(import.meta.dirname, "../../..");
const COPIED_PATHS = ["src", "test", "bench", "docs/recordings", "package.json", "bin"];

/**
 * Runs the attack of each guard against a copy of the source without the guard. Returns whether every attack noticed
 * that its guard was missing. A guard whose removal nothing notices has no test.
 */
export async function runWithoutGuards(
  guardName: string | undefined,
  only: string,
  seed: string,
  reportProgress: (line: string) => void,
): Promise<boolean> {
  const guards = GUARDS.filter(({ name }) =>
    guardName === undefined ? name.includes(only) : name === guardName,
  );
  if (guards.length === 0) throw new Error(`No guard is named ${guardName ?? only}.`);
  const copy = copyRepository();
  let unnoticed = 0;
  try {
    for (const guard of guards) {
      reportProgress(`without ${guard.name}`);
      const outcome = await attackWithoutGuard(copy, guard, seed);
      if (isDefended(outcome)) unnoticed++;
      console.log(`${isDefended(outcome) ? "UNNOTICED" : "noticed"}: without ${guard.name} (${guard.file})`);
      console.log(renderAttackOutcome(outcome));
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`${guards.length - unnoticed} of ${guards.length} removed guards were noticed`);
  return unnoticed === 0;
}

/** Copies what the attacks import to a temporary folder, so that no guard is ever missing in the repository. */
function copyRepository(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "colloquy-guards-")));
  for (const path of COPIED_PATHS) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  symlinkSync(realpathSync(join(ROOT, "node_modules")), join(folder, "node_modules"));
  return folder;
}

async function attackWithoutGuard(copy: string, guard: Guard, seed: string): Promise<AttackOutcome> {
  const file = join(copy, guard.file);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, removeGuard(source, guard));
  try {
    const args = [join(copy, "test/hostile/main.ts"), "--attack", guard.attack, "--seed", seed, "--json"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const output = text(child.stdout);
    await once(child, "exit");
    const { attacks } = JSON.parse(await output) as { attacks: AttackOutcome[] };
    const [outcome] = attacks;
    if (!outcome) throw new Error(`The guard ${guard.name} names an unknown attack ${guard.attack}.`);
    return outcome;
  } finally {
    writeFileSync(file, source);
  }
}
