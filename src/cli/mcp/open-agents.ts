import { existsSync } from "node:fs";
import type { Remote } from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { McpAgent } from "../../mcp/index.ts";
import type { Context } from "../context.ts";
import type { ClientOptions } from "../options.ts";
import { Problem, toProblem } from "../problem.ts";
import { CREDENTIALS } from "../redact.ts";
import type { AdkAgents } from "../serve/adk.ts";
import { openTarget } from "../target.ts";

/** The agents that `refs` mean, by the ids that begin the names of their tools. */
export async function openAgents(
  refs: readonly string[],
  options: ClientOptions,
  context: Context,
  adk: AdkAgents,
): Promise<Record<string, McpAgent>> {
  const paths = refs.filter((ref) => isAgentPath(ref));
  const others = refs.filter((ref) => !isAgentPath(ref));
  refuseToShare(others, options);
  const agents: Record<string, McpAgent> = paths.length > 0 ? await loadAll(paths, context, adk) : {};
  const missing: [ref: string, error: unknown][] = [];
  for (const ref of others) {
    try {
      const { remote } = await openTarget(ref, options, context);
      agents[freeId(remote, agents)] = remote;
    } catch (error) {
      missing.push([ref, error]);
    }
  }
  if (Object.keys(agents).length === 0) throw toProblem(missing[0]?.[1]);
  for (const [ref, error] of missing) {
    context.streams.err(`Not among the tools: ${ref}: ${toProblem(error).message}\n`);
  }
  return agents;
}

/** What is no such path is an agent somewhere else, or the file of its card. */
function isAgentPath(ref: string): boolean {
  if (ref.includes("://") || ref.endsWith(".json")) return false;
  return existsSync(ref) || /\.[cm]?[jt]s$/.test(ref);
}

/** A secret is for one agent. */
function refuseToShare(refs: readonly string[], options: ClientOptions): void {
  if (refs.length < 2) return;
  const given = CREDENTIALS.some((name) => options[name] !== undefined) || options.svcParam !== undefined;
  if (!given) return;
  throw new Problem(
    "A2ACLI_ERR_USAGE",
    `The credentials would go to ${refs.length} agents.`,
    "Configure a server of its own for each agent that needs some.",
  );
}

async function loadAll(
  paths: readonly string[],
  { streams }: Context,
  adk: AdkAgents,
): Promise<Record<string, Agent>> {
  const { loadFiles } = await import("../serve/files.ts");
  const { agents, skipped } = await loadFiles(paths, adk);
  for (const line of skipped) streams.err(`Not among the tools: ${line}\n`);
  return agents;
}

function freeId({ card }: Remote, taken: Readonly<Record<string, unknown>>): string {
  const name = card.name.toLowerCase();
  let id = name;
  for (let number = 2; id in taken; number++) id = `${name}_${number}`;
  return id;
}
