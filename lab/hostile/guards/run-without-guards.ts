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
const MAX_TEST_MS = 60_000;
const COPIED_PATHS = [
  "src",
  "test",
  "lab",
  "docs/recordings",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "bin",
  "scripts",
  "package-lock.json",
];

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
      const { isNoticed, report } = await runWithoutGuard(copy, guard, seed);
      if (!isNoticed) unnoticed++;
      console.log(`${isNoticed ? "noticed" : "UNNOTICED"}: without ${guard.name} (${guard.file})\n${report}`);
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
  for (const path of COPIED_PATHS)
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, preserveTimestamps: true });
  symlinkSync(realpathSync(join(ROOT, "node_modules")), join(folder, "node_modules"));
  return folder;
}

interface GuardRemoval {
  /** Whether the attack succeeded, or a test failed. */
  readonly isNoticed: boolean;
  readonly report: string;
}

async function runWithoutGuard(copy: string, guard: Guard, seed: string): Promise<GuardRemoval> {
  const file = join(copy, guard.file);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, removeGuard(source, guard));
  try {
    const { noticedBy } = guard;
    return "attack" in noticedBy
      ? await attackWithoutGuard(copy, noticedBy.attack, seed)
      : await testWithoutGuard(copy, noticedBy.test);
  } finally {
    writeFileSync(file, source);
  }
}

async function attackWithoutGuard(copy: string, attack: string, seed: string): Promise<GuardRemoval> {
  const main = join(copy, "lab/hostile/main.ts");
  const child = spawn(process.execPath, [main, "--attack", attack, "--seed", seed, "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const [outcome] = (JSON.parse(output) as { attacks: AttackOutcome[] }).attacks;
  if (!outcome) throw new Error(`There is no attack ${attack}.`);
  return { isNoticed: !isDefended(outcome), report: renderAttackOutcome(outcome) };
}

/** Runs a file of tests, and returns the first one that fails. A test that never ends without the guard notices it, too. */
async function testWithoutGuard(copy: string, test: string): Promise<GuardRemoval> {
  const vitest = join(copy, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", test, "--bail", "1", "--testTimeout", "20000"], {
    cwd: copy,
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    // A test in an endless loop ends only with its process.
    timeout: MAX_TEST_MS,
    killSignal: "SIGKILL",
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  const failure =
    child.signalCode === "SIGKILL" ? "a test does not end" : /FAIL .*/.exec(output + errors)?.[0];
  if (failure === undefined && child.exitCode !== 0)
    throw new Error(`The tests of ${test} cannot run:\n${output + errors}`);
  return { isNoticed: failure !== undefined, report: `       ${failure ?? "all tests pass"}` };
}
