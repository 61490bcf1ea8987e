import { fileURLToPath } from "node:url";
import type { ChaosSystem } from "./chaos-system.ts";

const NODE_SCRIPT = fileURLToPath(new URL("colloquy-node.ts", import.meta.url));

/** Colloquy from its sources, on the PostgreSQL store. */
export const COLLOQUY_SYSTEM: ChaosSystem = {
  name: "colloquy",
  hasEventIds: true,
  getCommand: (database, options) => [process.execPath, NODE_SCRIPT, database, JSON.stringify(options)],
  getAgentUrl: (nodeUrl, policy) => `${nodeUrl}/a2a/${policy}`,
};
