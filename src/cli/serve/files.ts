import type { Agent } from "../../engine/index.ts";
import { Problem } from "../problem.ts";
import type { AdkAgents } from "./adk.ts";
import { findAgentFiles, shown } from "./find.ts";
import { loadAgent } from "./load.ts";

/** The agents of the files that `paths` mean by their ids, and why the others of those files are not among them. */
export async function loadFiles(
  paths: readonly string[],
  adk: AdkAgents,
): Promise<{ agents: Record<string, Agent>; skipped: string[] }> {
  const agents: Record<string, Agent> = {};
  const skipped: string[] = [];
  for (const candidate of await findAgentFiles(paths)) {
    const loaded = "skipped" in candidate ? candidate : await loadAgent(candidate.file, candidate.id, adk);
    if ("skipped" in loaded) skipped.push(`${shown(candidate.file)}: ${loaded.skipped}`);
    else if ("id" in candidate) agents[candidate.id] = loaded.agent;
  }
  if (Object.keys(agents).length === 0) {
    throw new Problem(
      "A2ACLI_ERR_INTERNAL",
      ["There is no agent to serve.", ...skipped].join("\n  "),
      "Export it as rootAgent, agent or default; `colloquy serve --help` has examples.",
    );
  }
  return { agents, skipped };
}
