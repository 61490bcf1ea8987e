import { fileURLToPath } from "node:url";
import type { ChaosSystem } from "./chaos-system.ts";

const NODE_SCRIPT = fileURLToPath(new URL("a2a-python/node.py", import.meta.url));

/** Requirements of the replicas of the Python SDK. */
export const A2A_PYTHON_REQUIREMENTS: string = fileURLToPath(
  new URL("a2a-python/requirements.txt", import.meta.url),
);

/** The cluster of the official Python SDK (`a2a.server.cluster`) on PostgreSQL. `python` runs the replicas. */
export function createA2APythonSystem(python: string): ChaosSystem {
  return {
    name: "a2a-python",
    hasEventIds: false,
    getCommand: (database, { port = 0 }) => [python, NODE_SCRIPT, database, String(port)],
    getAgentUrl: (nodeUrl) => `${nodeUrl}/`,
  };
}
