import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Agent } from "../../src/engine/index.ts";
import { createServer } from "../../src/server/index.ts";
import type { Hosted } from "../host.ts";

export interface Variant {
  readonly store: "memory" | "sqlite";
  readonly merge?: boolean;
  /** Its URL is then that of gRPC. */
  readonly grpc?: boolean;
}

/** The checkout's own disk, because the system's folder for temporary files is often in memory. */
const SCRATCH = fileURLToPath(new URL("../../.tmp/", import.meta.url));

/** Colloquy with the bench's agent. */
export async function hostColloquy(variant: Variant): Promise<Hosted> {
  const { chunkAgent } = await import("./chunk-agent.ts");
  return host(chunkAgent, variant);
}

/** Colloquy with the ADK agent of all ADK rows. */
export async function hostColloquyAdk(variant: Variant): Promise<Hosted> {
  const [{ adkAgent }, { createAdkAgent }] = await Promise.all([
    import("../../src/adk/index.ts"),
    import("./adk-agent.ts"),
  ]);
  return host(adkAgent(createAdkAgent()), variant);
}

async function host(agent: Agent, { store, merge = true, grpc = false }: Variant): Promise<Hosted> {
  const server = createServer({ bench: agent }, { store: store === "memory" ? store : scratchFile(), merge });
  const address = await server.listen({ grpc });
  return { url: address.grpc ? `http://127.0.0.1:${address.grpc.port}` : (address.agents[0]?.url ?? "") };
}

function scratchFile(): `sqlite:${string}` {
  mkdirSync(SCRATCH, { recursive: true });
  const folder = mkdtempSync(`${SCRATCH}bench-`);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return `sqlite:${folder}/tasks.db`;
}
