import { chmodSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import {
  findPostgresPrograms,
  startTestPostgres,
} from "../../src/stores/postgres/postgres-server.fixture.ts";
import type { ClockScenario } from "./clock-scenarios.ts";
import { ClockedServer } from "./clocked-server.ts";
import { compileFaultShim, type FaultControls } from "./fault-controls.ts";
import type { FaultOutcome } from "./run-fault-scenario.ts";

export type ClockedStore = "memory" | "SQLite" | "PostgreSQL";

/** The stores with which this machine can run a scenario. */
export function listClockedStores({ supportsMemory }: ClockScenario): ClockedStore[] {
  const stores: ClockedStore[] = supportsMemory ? ["memory", "SQLite"] : ["SQLite"];
  return findPostgresPrograms() === undefined ? stores : [...stores, "PostgreSQL"];
}

/** Changes the clocks of a machine with a server and its database, and resolves with what went wrong. */
export async function runClockScenario(
  scenario: ClockScenario,
  store: ClockedStore,
  folder: string,
): Promise<FaultOutcome> {
  const controls = compileFaultShim(folder);
  const database = store === "PostgreSQL" ? await startClockedPostgres(controls, folder) : undefined;
  const server = new ClockedServer(
    database?.url ?? (store === "SQLite" ? `sqlite:${join(folder, "tasks.db")}` : "memory"),
    controls,
  );
  try {
    await server.start();
    await scenario.run(server);
  } finally {
    await server.kill();
    await database?.remove();
  }
  const { problems, figures } = server;
  return { scenario: `${scenario.name}, ${store}`, problems, figures };
}

/** Starts a database whose clocks are those of the scenario. */
async function startClockedPostgres(
  { env }: FaultControls,
  folder: string,
): ReturnType<typeof startTestPostgres> {
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "fault-control"), 0o666);
  const names = Object.keys(env);
  const earlier = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  Object.assign(process.env, env);
  try {
    return await startTestPostgres();
  } finally {
    for (const name of names) {
      if (earlier[name] === undefined) delete process.env[name];
      else process.env[name] = earlier[name];
    }
  }
}
