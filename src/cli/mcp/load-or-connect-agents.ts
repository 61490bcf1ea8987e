import { existsSync } from "node:fs";
import type { A2AClient } from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { McpAgentSource } from "../../agents/mcp/index.ts";
import type { CliContext } from "../cli-context.ts";
import type { ClientOptions } from "../client-options.ts";
import { createUsageError, toCliError } from "../cli-error.ts";
import { CREDENTIAL_OPTIONS } from "../credential-redactor.ts";
import { isLocalPath } from "../is-local-path.ts";
import type { AdkAgentFactory } from "../serve/adk-agent-factory.ts";
import { connectToAgent } from "../agent-connection.ts";

/**
 * Loads the local agents in `refs` and connects to the remote agents. The keys of the returned map are the
 * prefixes of the agents' tool names.
 */
export async function loadOrConnectAgents(
  refs: readonly string[],
  options: ClientOptions,
  context: CliContext,
  adk: AdkAgentFactory,
): Promise<Record<string, McpAgentSource>> {
  const paths = refs.filter((ref) => isLocalAgentPath(ref));
  const others = refs.filter((ref) => !isLocalAgentPath(ref));
  assertCredentialsNotShared(others, options);
  const agents: Record<string, McpAgentSource> =
    paths.length > 0 ? await loadLocalAgents(paths, context, adk) : {};
  const missing: [ref: string, error: unknown][] = [];
  for (const ref of others) {
    try {
      const { client } = await connectToAgent(ref, options, context);
      agents[createUniqueAgentId(client, agents)] = client;
    } catch (error) {
      missing.push([ref, error]);
    }
  }
  if (Object.keys(agents).length === 0) throw toCliError(missing[0]?.[1]);
  for (const [ref, error] of missing) {
    context.streams.err(`Not among the tools: ${ref}: ${toCliError(error).message}\n`);
  }
  return agents;
}

/**
 * Returns whether an agent reference is a local agent file or directory. All other agent references are URLs
 * or agent card files.
 */
function isLocalAgentPath(ref: string): boolean {
  if (ref.includes("://") || ref.endsWith(".json")) return false;
  return isLocalPath(ref, AGENT_FILE_EXTENSION) && (AGENT_FILE_EXTENSION.test(ref) || existsSync(ref));
}

const AGENT_FILE_EXTENSION = /\.[cm]?[jt]s$/;

/** Throws if more than one agent would receive the credentials. */
function assertCredentialsNotShared(refs: readonly string[], options: ClientOptions): void {
  if (refs.length < 2) return;
  const hasCredentials =
    CREDENTIAL_OPTIONS.some((name) => options[name] !== undefined) || options.svcParam !== undefined;
  if (!hasCredentials) return;
  throw createUsageError(
    `The credentials would be sent to ${refs.length} agents.`,
    "Configure a separate MCP server for each agent that requires credentials.",
  );
}

async function loadLocalAgents(
  paths: readonly string[],
  { streams }: CliContext,
  adk: AdkAgentFactory,
): Promise<Record<string, Agent>> {
  const { loadAgentFiles } = await import("../serve/load-agent-files.ts");
  const { agents, skipped } = await loadAgentFiles(paths, adk);
  for (const line of skipped) streams.err(`Not among the tools: ${line}\n`);
  return agents;
}

function createUniqueAgentId({ card }: A2AClient, taken: Readonly<Record<string, unknown>>): string {
  const name = card.name.toLowerCase();
  let id = name;
  for (let number = 2; id in taken; number++) id = `${name}_${number}`;
  return id;
}
