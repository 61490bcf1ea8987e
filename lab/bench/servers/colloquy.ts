import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AdkAgentOptions } from "../../../src/adk/index.ts";
import type { Agent } from "../../../src/engine/index.ts";
import { createServer, type ServerOptions } from "../../../src/server/index.ts";
import { SqliteStore } from "../../../src/stores/index.ts";
import { EndedTaskCounter } from "../growth/ended-task-counter.ts";
import type { StartedSystem } from "../system-process-main.ts";

export interface ColloquyServerVariant {
  readonly store: "memory" | "sqlite";
  readonly mergesChunks?: boolean;
  /** Number of finished tasks in the SQLite store at the start. Default: 0. */
  readonly storedTaskCount?: number;
  /** Whether the benchmark can wait for the end of tasks, which costs CPU time for each event. */
  readonly countsEndedTasks?: boolean;
  /** Whether the server is measured over gRPC. */
  readonly grpc?: boolean;
  /** Option `telemetry` of the server. Default: the default of the server. */
  readonly telemetry?: ServerOptions["telemetry"];
  /** Whether the server writes a traffic record to a file, with or without bodies. Default: no record. */
  readonly record?: "with-bodies" | "without-bodies";
}

/** Scratch folder in the checkout, because the temporary folder of the system is often in memory. */
const SCRATCH_DIR = fileURLToPath(new URL("../../.tmp/", import.meta.url));

/** Larger than every artifact of the benchmark, in characters of JSON. */
const MAX_TASK_SIZE = 256 * 1024 ** 2;

/** Starts Colloquy with the agent of the benchmark. */
export async function startColloquyServer(variant: ColloquyServerVariant): Promise<StartedSystem> {
  const { chunkAgent } = await import("./chunk-agent.ts");
  return startColloquyServerForAgent(chunkAgent, variant);
}

/** Starts Colloquy with the ADK agent of all ADK rows. */
export async function startColloquyAdkServer(
  variant: ColloquyServerVariant,
  streaming: NonNullable<AdkAgentOptions["streaming"]> = "by-request",
): Promise<StartedSystem> {
  const [{ adkAgent }, { createScriptedAdkAgent: createAdkAgent }] = await Promise.all([
    import("../../../src/adk/index.ts"),
    import("./scripted-adk-agent.ts"),
  ]);
  return startColloquyServerForAgent(adkAgent(createAdkAgent(), { streaming }), variant);
}

async function startColloquyServerForAgent(
  agent: Agent,
  {
    store,
    mergesChunks = true,
    grpc = false,
    storedTaskCount = 0,
    countsEndedTasks,
    telemetry,
    record,
  }: ColloquyServerVariant,
): Promise<StartedSystem> {
  const endedTasks = countsEndedTasks ? new EndedTaskCounter() : undefined;
  const storeFile = store === "memory" ? undefined : createScratchFilePath("tasks.db");
  if (storeFile && storedTaskCount > 0) {
    const { generateStoredTasks } = await import("../growth/generate-stored-tasks.ts");
    generateStoredTasks(storeFile, storedTaskCount);
  }
  const server = createServer(
    { bench: agent },
    {
      store: storeFile ? new SqliteStore(storeFile, { backupBeforeMigration: false }) : "memory",
      mergeChunks: mergesChunks,
      limits: { taskSize: MAX_TASK_SIZE },
      ...(telemetry === undefined ? {} : { telemetry }),
      ...(record === undefined
        ? {}
        : { record: { file: createScratchFilePath("record.jsonl"), bodies: record === "with-bodies" } }),
      ...(endedTasks ? { observer: endedTasks.observer } : {}),
    },
  );
  const address = await server.listen({ grpc });
  const url = address.grpc ? `http://127.0.0.1:${address.grpc.port}` : (address.agents[0]?.url ?? "");
  return {
    url,
    ...(storeFile === undefined ? {} : { storeFile }),
    ...(endedTasks ? { waitForEndedTasks: (count) => endedTasks.waitForCount(count) } : {}),
  };
}

function createScratchFilePath(name: string): string {
  mkdirSync(SCRATCH_DIR, { recursive: true });
  const folder = mkdtempSync(`${SCRATCH_DIR}bench-`);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return `${folder}/${name}`;
}
