import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeGuard } from "../hostile/guards/guard.ts";
import { runSeeds } from "./run-seeds.ts";
import type { DatabaseDefects } from "./simulated-database.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Number of seeds in which the simulation must notice a mutant. */
export const MAX_MUTANT_SEEDS = 10_000;

/** A defect that the simulation must notice: of the simulated database, or of the source. */
export type PlantedMutant =
  | {
      readonly name: string;
      readonly defects: DatabaseDefects;
      /** Seed with which `npm test` starts, so that it notices a rarely noticed defect soon. Default: 1. */
      readonly firstSeed?: number;
    }
  | {
      readonly name: string;
      readonly file: string;
      /** Text that occurs exactly once in the file, and the text that replaces it. */
      readonly find: string;
      readonly replace: string;
    };

export const PLANTED_MUTANTS: readonly PlantedMutant[] = [
  { name: "no epoch check", defects: { ignoresEpochs: true }, firstSeed: 600 },
  { name: "lease by the clock of the database", defects: { expiresByDatabaseClock: true } },
  {
    name: "lease that ends early",
    file: "src/stores/postgres/postgres-task-leases.ts",
    find: "time - seenAt >= leaseMs)",
    replace: "time - seenAt >= leaseMs / 6)",
  },
  {
    name: "early release",
    file: "src/engine/active-task.ts",
    find: "    await this.#waitForAgentEnd();\n    this.#context.releaseLease(",
    replace: "    this.#context.releaseLease(",
  },
  {
    name: "early release at a stop",
    file: "src/engine/engine.ts",
    find: '    const reason = "The server was stopped',
    replace:
      "    for (const task of this.#tasks.list()) void this.#store.turns?.release(task.lease).catch(() => {});\n" +
      '    const reason = "The server was stopped',
  },
  {
    name: "hint as truth",
    file: "src/cluster/log-poller.ts",
    find: "const IDLE_POLL_DELAY_MS = 500;",
    replace: "const IDLE_POLL_DELAY_MS = 1e12;",
  },
  {
    name: "no release of forgotten leases",
    file: "src/stores/postgres/postgres-task-leases.ts",
    find: "    await this.#releaseForgottenLeases();\n",
    replace: "",
  },
  {
    name: "forgotten steps",
    file: "src/engine/settle-claimed-task.ts",
    find: "    turn.restoreSteps(steps);\n",
    replace: "",
  },
  {
    name: "step before its commit",
    file: "src/engine/turn-steps.ts",
    find: "    await this.#turn.commitSteps();\n",
    replace: "    void this.#turn.commitSteps().catch(() => {});\n",
  },
  {
    name: "turns that hang",
    file: "src/engine/turn-limits.ts",
    find: "else timer.expire(now);",
    replace: "",
  },
  {
    name: "release before the cleanup of an agent",
    file: "src/engine/turn.ts",
    find: "if (this.isAborted) await closing;",
    replace: "",
  },
  {
    name: "group of all suspect turns",
    file: "src/engine/suspect-turns.ts",
    find: "const group = tasks.slice(0, maxSize);",
    replace: "const group = tasks;",
  },
  {
    name: "deaths of groups that count",
    file: "src/engine/suspect-turns.ts",
    find: "const hasSharedDeath = turn.groupSize !== undefined && turn.groupSize > 1;",
    replace: "const hasSharedDeath = false;",
  },
  {
    name: "next group of suspect turns at once",
    file: "src/engine/suspect-turns.ts",
    find: "waitAtMost(Promise.all(ends), runMs, this.#clock)",
    replace: "waitAtMost(Promise.all(ends), 0, this.#clock)",
  },
  {
    name: "reports of readers that stop",
    file: "src/engine/unread-turns.ts",
    find: "      task.cancelTimer = clock.schedule(REPORT_INTERVAL_MS, () => this.#update(task));\n",
    replace: "",
  },
  {
    name: "unread turn with a webhook",
    file: "src/engine/unread-turns.ts",
    find: "if (configs?.configs.length || active",
    replace: "if (active",
  },
  {
    name: "client that polls as a reader",
    file: "src/engine/engine.ts",
    find: "const unreadTurns = untilStop ? this.#unreadTurns : undefined;",
    replace: "const unreadTurns = this.#unreadTurns;",
  },
  {
    name: "unread turn that continues",
    file: "src/engine/unread-turns.ts",
    find: "    active.cancel({ reason",
    replace: "    if (this.#graceMs < 0) active.cancel({ reason",
  },
  {
    name: "lone turn that stays alone",
    file: "src/engine/suspect-turns.ts",
    find: "if (this.#isRunning && this.#lone) await this.#persistCompany(this.#lone);",
    replace: "",
  },
];

/**
 * Resolves with the number of seeds until the simulation has noticed the mutant, or `undefined`. Rejects if the mutant
 * ends the process of the simulation, so that the simulation has no result.
 */
export async function findSeedsUntilNoticed(
  mutant: PlantedMutant,
  steps: number,
): Promise<number | undefined> {
  if ("defects" in mutant) {
    const range = { first: 1, count: MAX_MUTANT_SEEDS, steps, defects: mutant.defects };
    const { seedCount, broken } = await runSeeds(range, true);
    return broken.length > 0 ? seedCount : undefined;
  }
  return runMutatedSource(mutant, steps);
}

/** Runs the simulation on a copy of the source with the mutant. */
function runMutatedSource(
  mutant: Exclude<PlantedMutant, { defects: unknown }>,
  steps: number,
): number | undefined {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "colloquy-mutant-")));
  try {
    for (const path of ["src", "lab/simulation", "lab/hostile/guards", "package.json"])
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(realpathSync(join(ROOT, "node_modules")), join(copy, "node_modules"));
    const file = join(copy, mutant.file);
    writeFileSync(file, removeGuard(readFileSync(file, "utf8"), { ...mutant, noticedBy: { test: "" } }));
    const main = join(copy, "lab/simulation/main.ts");
    const args = [main, "--first-broken", "--seeds", String(MAX_MUTANT_SEEDS), "--steps", String(steps)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    const count = /^noticed after (\d+) seeds/m.exec(stdout)?.[1];
    if (count !== undefined) return Number(count);
    if (status !== 0)
      throw new Error(`The simulation with the mutant "${mutant.name}" ended early:\n${stderr}`);
    return undefined;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
