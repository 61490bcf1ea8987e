import type { Agent } from "../../engine/index.ts";
import { createUsageError } from "../cli-error.ts";
import type { AdkAgentFactory } from "./adk-agent-factory.ts";
import { findAgentFiles, formatPath } from "./find-agent-files.ts";
import { loadAgent } from "./load-agent.ts";

/** The agents of files by id. */
export interface LoadedAgents {
  readonly agents: Record<string, Agent>;
  /** The skipped files with reasons. */
  readonly skipped: string[];
}

/** Loads agents from paths. */
export async function loadAgentFiles(paths: readonly string[], adk: AdkAgentFactory): Promise<LoadedAgents> {
  const agents: Record<string, Agent> = {};
  const filesById = new Map<string, string>();
  const skipped: string[] = [];
  for (const candidate of await findAgentFiles(paths)) {
    const loaded =
      "skipped" in candidate ? candidate : await loadAgent(candidate.file, candidate.fileId, adk);
    if ("skipped" in loaded) skipped.push(`${formatPath(candidate.file)}: ${loaded.skipped}`);
    else if ("fileId" in candidate) {
      const { agent, id } = loaded;
      const otherFile = filesById.get(id);
      if (otherFile !== undefined) {
        const reason = `has the same id (${id}) as ${formatPath(otherFile)}; give one agent another name`;
        skipped.push(`${formatPath(candidate.file)}: ${reason}`);
        continue;
      }
      filesById.set(id, candidate.file);
      agents[id] = agent;
    }
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
