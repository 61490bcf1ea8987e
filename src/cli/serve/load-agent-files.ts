import type { Agent } from "../../engine/index.ts";
import { createUsageError } from "../cli-error.ts";
import type { AdkAgentFactory } from "./adk-agent-factory.ts";
import { findAgentFiles, formatPath } from "./find-agent-files.ts";
import { loadAgent } from "./load-agent.ts";

/** Loads agents from paths. Returns the agents by id, and the skipped files with reasons. */
export async function loadAgentFiles(
  paths: readonly string[],
  adk: AdkAgentFactory,
): Promise<{ agents: Record<string, Agent>; skipped: string[] }> {
  const agents: Record<string, Agent> = {};
  const skipped: string[] = [];
  for (const candidate of await findAgentFiles(paths)) {
    const loaded = "skipped" in candidate ? candidate : await loadAgent(candidate.file, candidate.id, adk);
    if ("skipped" in loaded) skipped.push(`${formatPath(candidate.file)}: ${loaded.skipped}`);
    else if ("id" in candidate) agents[candidate.id] = loaded.agent;
  }
  if (Object.keys(agents).length === 0) {
    const isExportMissing = skipped.every((line) => !line.includes(": could not be loaded: "));
    throw createUsageError(
      ["No agent was found.", ...skipped].join("\n  "),
      isExportMissing
        ? "Export the agent as rootAgent, agent, or default. `colloquy serve --help` has examples."
        : "Correct the error in the file.",
    );
  }
  return { agents, skipped };
}
