import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AdkAgentOptions } from "../../src/adk/index.ts";
import type { Agent } from "../../src/engine/index.ts";
import { createServer } from "../../src/server/index.ts";
import type { StartedSystem } from "../system-process-main.ts";

export interface ColloquyServerVariant {
  readonly store: "memory" | "sqlite";
  readonly mergesChunks?: boolean;
  /** Whether the server is measured over gRPC. */
  readonly grpc?: boolean;
}

/** Scratch folder in the checkout, because the temporary folder of the system is often in memory. */
const SCRATCH_DIR = fileURLToPath(new URL("../../.tmp/", import.meta.url));

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
    import("../../src/adk/index.ts"),
    import("./scripted-adk-agent.ts"),
  ]);
  return startColloquyServerForAgent(adkAgent(createAdkAgent(), { streaming }), variant);
}

async function startColloquyServerForAgent(
  agent: Agent,
  { store, mergesChunks = true, grpc = false }: ColloquyServerVariant,
): Promise<StartedSystem> {
  const server = createServer(
    { bench: agent },
    { store: store === "memory" ? store : createScratchDatabase(), mergeChunks: mergesChunks },
  );
  const address = await server.listen({ grpc });
  return { url: address.grpc ? `http://127.0.0.1:${address.grpc.port}` : (address.agents[0]?.url ?? "") };
}

function createScratchDatabase(): `sqlite:${string}` {
  mkdirSync(SCRATCH_DIR, { recursive: true });
  const folder = mkdtempSync(`${SCRATCH_DIR}bench-`);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return `sqlite:${folder}/tasks.db`;
}
