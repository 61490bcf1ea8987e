import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { agent, type AgentGenerator } from "../../agents/adapters/index.ts";
import type { AdkRunnableSource } from "../../agents/adk/index.ts";
import type { Agent } from "../../engine/index.ts";
import { deriveAgentId } from "../../protocol/index.ts";
import type { AdkAgentFactory } from "./adk-agent-factory.ts";
import { importFile } from "./import-file.ts";

/**
 * The examined exports. The loader tries the exports in list order, and uses the first agent that it finds.
 */
const AGENT_EXPORT_NAMES = ["rootAgent", "agent", "default", "app", "workflow", "runner"];

/**
 * Loads the agent from one file with its id, or returns the reason why the file contains no agent. The agent has
 * an explicit id, or the id is derived from its name. `fileId` is the id that is derived from the file's name. The
 * promise never rejects, because other agents must load even if one file is broken.
 */
export async function loadAgent(
  file: string,
  fileId: string,
  adk: AdkAgentFactory,
): Promise<{ agent: Agent; id: string } | { skipped: string; error?: unknown }> {
  loadEnvFile(file);
  try {
    const exports = await importFile(file);
    const found = await findExportedAgent(exports, fileId, adk);
    if (!found) return { skipped: explainMissingAgent(exports) };
    // An agent whose `describe` fails would otherwise fail at the first request for its card.
    const { name } = await found.describe();
    return { agent: found, id: found.id ?? deriveAgentId(name) };
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    const hint = formatInstallHint(error);
    const line = formatErrorLineNumber(file, error);
    return { skipped: `could not be loaded: ${reason.trim()}${line}${hint}`, error };
  }
}

/** Returns the command that installs a package that the agent file imports, such as `@google/adk`. */
function formatInstallHint(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  const [, name] = /Cannot find (?:package|module) '((?:@[\w.-]+\/)?[A-Za-z][\w.-]*)/.exec(message) ?? [];
  return name === undefined ? "" : `; npm install ${name}`;
}

/** Formats the line number from an import error. Node and jiti store the error position differently. */
function formatErrorLineNumber(file: string, error: unknown): string {
  if (!(error instanceof Error)) return "";
  const line =
    findLineNumber(`${error.message}\n${error.stack}`, file) ??
    (error instanceof SyntaxError ? findSyntaxErrorLineNumber(file) : undefined);
  return line === undefined ? "" : ` (line ${line})`;
}

function findLineNumber(text: string, file: string): string | undefined {
  // A file that was loaded again has a query in its URL.
  return /^(?:\?[^:]*)?:(\d+)/.exec(text.split(file)[1] ?? "")?.[1];
}

/** Node prints the line of a syntax error, but the error itself does not contain the line. */
function findSyntaxErrorLineNumber(file: string): string | undefined {
  const { stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8" });
  return findLineNumber(stderr, file);
}

/** Returns the exported agent. An exported generator function has the name of its file. */
async function findExportedAgent(
  exports: Record<string, unknown>,
  fileId: string,
  adk: AdkAgentFactory,
): Promise<Agent | undefined> {
  for (const name of AGENT_EXPORT_NAMES) {
    const exported = exports[name];
    if (isAgent(exported)) return exported;
    if (isGeneratorFunction(exported))
      return agent({ name: fileId, description: `The agent of ${fileId}` }, exported);
    if (isAdkRunnable(exported)) return adk.createAgentFromAdk(exported);
  }
  return undefined;
}

function explainMissingAgent(exports: Record<string, unknown>): string {
  const found = Object.keys(exports).filter((name) => name !== "default" || exports[name] !== undefined);
  const expectedNames = AGENT_EXPORT_NAMES.slice(0, 3).join(", ");
  if (found.length === 0) return `exports nothing; export your agent as ${expectedNames}`;
  const candidates = found.filter((name) => AGENT_EXPORT_NAMES.includes(name));
  const asyncFunction = candidates.find(
    (name) => Object.prototype.toString.call(exports[name]) === "[object AsyncFunction]",
  );
  if (asyncFunction !== undefined)
    return `${asyncFunction} is an async function; write async function* and yield the answer`;
  if (candidates.length > 0)
    return `${candidates.join(", ")} is not an agent: use an ADK agent, agent(…), or an async generator`;
  return `exports no agent (only ${found.join(", ")}); name it ${expectedNames}`;
}

/** Returns whether a value has the members of the `Agent` interface. */
function isAgent(value: unknown): value is Agent {
  return hasMember(value, "describe", "function") && hasMember(value, "execute", "function");
}

function isGeneratorFunction(value: unknown): value is AgentGenerator {
  return Object.prototype.toString.call(value) === "[object AsyncGeneratorFunction]";
}

/**
 * Returns whether a value has the members of an ADK agent. Checking the ADK class is not sufficient, because
 * the agent file may load another copy of ADK.
 */
function isAdkRunnable(value: unknown): value is AdkRunnableSource {
  const isNode =
    hasMember(value, "name", "string") &&
    (hasMember(value, "runAsync", "function") || hasMember(value, "run", "function"));
  const isApp = hasMember(value, "rootAgent", "object") && hasMember(value, "name", "string");
  const isRunner = hasMember(value, "runAsync", "function") && hasMember(value, "sessionService", "object");
  return isNode || isApp || isRunner;
}

function hasMember(value: unknown, member: string, type: "function" | "string" | "object"): boolean {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, member) === type;
}

/**
 * Loads the `.env` file from the agent's folder. ADK projects store API keys in the `.env` file of the
 * agent's folder. Existing environment variables take precedence over the `.env` file.
 */
function loadEnvFile(file: string): void {
  const env = join(dirname(file), ".env");
  if (existsSync(env)) process.loadEnvFile(env);
}
