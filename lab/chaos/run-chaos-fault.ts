import { readdirSync } from "node:fs";
import { loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { createTestDatabase, startTestPostgres } from "../../src/stores/postgres/postgres-server.fixture.ts";
import type { ChaosContext, ChaosFault, FigureName } from "./chaos-fault.ts";
import { findExceededBars, type ChaosOutcome } from "./chaos-outcome.ts";
import { ChaosNode, type ChaosSystem } from "./systems/chaos-system.ts";

const FAULTS_FOLDER = new URL("faults/", import.meta.url);

/** Returns the names of all faults. */
export function listFaultNames(): string[] {
  return readdirSync(FAULTS_FOLDER)
    .map((file) => file.replace(/\.ts$/, ""))
    .toSorted();
}

export async function importFault(name: string): Promise<ChaosFault> {
  const module = (await import(new URL(`${name}.ts`, FAULTS_FOLDER).href)) as { fault: ChaosFault };
  return module.fault;
}

/** Injects a fault into a new cluster on a new database server, and removes both afterwards. */
export async function runChaosFault(
  name: string,
  system: ChaosSystem,
  isFullRun: boolean,
): Promise<ChaosOutcome> {
  const fault = await importFault(name);
  const startedAt = performance.now();
  const [loadBefore = 0] = loadavg();
  const figures: Record<FigureName, number> = {};
  const problems: string[] = [];
  const cleanUps: (() => void | Promise<void>)[] = [];
  try {
    const postgres = await startTestPostgres({ fsync: "on", full_page_writes: "on" });
    cleanUps.push(() => postgres.remove());
    const database = await createTestDatabase(postgres.url, "chaos");
    const context: ChaosContext = {
      postgres,
      database,
      isFullRun,
      hasEventIds: system.hasEventIds,
      startNode: async (options = {}) => {
        const node = await ChaosNode.start(system, options.database ?? database, options);
        cleanUps.push(() => node.kill());
        return node;
      },
      addFigure: (figure, value) => (figures[figure] = value),
      addProblem: (problem) => problems.push(problem),
      onEnd: (cleanUp) => cleanUps.push(cleanUp),
    };
    const timeout = pause(fault.maxSeconds * 1000, "timeout", { ref: false });
    if ((await Promise.race([fault.inject(context), timeout])) === "timeout")
      problems.push(`the fault has not ended after ${fault.maxSeconds} seconds`);
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
  return {
    system: system.name,
    name,
    title: fault.title,
    promise: fault.promise,
    figures,
    problems,
    exceededBars: system.hasEventIds ? findExceededBars(figures, fault) : [],
    seconds: (performance.now() - startedAt) / 1000,
    loadAverages: [loadBefore, loadavg()[0] ?? 0],
  };
}
