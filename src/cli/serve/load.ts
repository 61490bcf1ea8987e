import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { agent, type Work } from "../../adapters/index.ts";
import type { AdkSource } from "../../adk/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { AdkAgents } from "./adk.ts";
import { importFile } from "./import.ts";

/** The exports that are looked at, the first that is an agent wins. */
const NAMES = ["rootAgent", "agent", "default", "app", "workflow", "runner"];

/** Loads the agent of one file, or tells why it has none. Never rejects: one broken file must not stop the others. */
export async function loadAgent(
  file: string,
  id: string,
  adk: AdkAgents,
): Promise<{ agent: Agent } | { skipped: string }> {
  loadEnvBeside(file);
  try {
    const exports = await importFile(file);
    const found = await agentIn(exports, id, adk);
    if (!found) return { skipped: reasonFor(exports) };
    // One that cannot say what it is would fail at the first request for its card.
    await found.describe();
    return { agent: found };
  } catch (error) {
    const [said = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return { skipped: `could not be loaded: ${said.trim()}${lineIn(file, error)}` };
  }
}

/** Where in the file it happened, for people; Node and jiti name the place in different corners of an error. */
function lineIn(file: string, error: unknown): string {
  if (!(error instanceof Error)) return "";
  const [, line] = /^:(\d+)/.exec(`${error.message}\n${error.stack}`.split(file)[1] ?? "") ?? [];
  return line === undefined ? "" : ` (line ${line})`;
}

async function agentIn(
  exports: Record<string, unknown>,
  id: string,
  adk: AdkAgents,
): Promise<Agent | undefined> {
  for (const name of NAMES) {
    const exported = exports[name];
    if (isAgent(exported)) return exported;
    if (isGenerator(exported)) return agent({ name: id, description: `The agent of ${id}` }, exported);
    if (isAdk(exported)) return adk.add(id, exported);
  }
  return undefined;
}

function reasonFor(exports: Record<string, unknown>): string {
  const found = Object.keys(exports).filter((name) => name !== "default" || exports[name] !== undefined);
  const wanted = NAMES.slice(0, 3).join(", ");
  if (found.length === 0) return `exports nothing; export your agent as ${wanted}`;
  const near = found.filter((name) => NAMES.includes(name));
  if (near.length > 0)
    return `${near.join(", ")} is no agent: neither of ADK, nor agent(…), nor an async generator`;
  return `exports no agent (only ${found.join(", ")}); name it ${wanted}`;
}

/** An object of the agent port. */
function isAgent(value: unknown): value is Agent {
  return has(value, "describe", "function") && has(value, "execute", "function");
}

function isGenerator(value: unknown): value is Work {
  return Object.prototype.toString.call(value) === "[object AsyncGeneratorFunction]";
}

/** By shape, because the file may use another copy of ADK than this package. */
function isAdk(value: unknown): value is AdkSource {
  const isNode =
    has(value, "name", "string") && (has(value, "runAsync", "function") || has(value, "run", "function"));
  const isApp = has(value, "rootAgent", "object") && has(value, "name", "string");
  const isRunner = has(value, "runAsync", "function") && has(value, "sessionService", "object");
  return isNode || isApp || isRunner;
}

function has(value: unknown, member: string, type: "function" | "string" | "object"): boolean {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, member) === type;
}

/** ADK's layout has keys in a `.env` beside the agent; what is set already stays. */
function loadEnvBeside(file: string): void {
  const env = join(dirname(file), ".env");
  if (existsSync(env)) process.loadEnvFile(env);
}
