import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  CAN_RELOAD_ES_MODULES,
  isDirectory,
  type AgentFileSource,
  type LoadedAgentFile,
} from "../../studio/dev/index.ts";
import type { ServeConfig } from "../../studio/config/index.ts";
import { createUsageError } from "../cli-error.ts";
import type { AdkAgentFactory } from "../serve/adk-agent-factory.ts";
import { isConfigAgentPathList, readConfig } from "../serve/apply-config-file.ts";
import { findAgentFiles } from "../serve/find-agent-files.ts";
import { loadAgent } from "../serve/load-agent.ts";

/** The paths that `colloquy dev` serves without arguments, if they exist. */
const DEFAULT_PATHS = ["agent.ts", "agent.mts", "agent.js", "agent.mjs", "agents"];

/** Paths from the command line, and the configuration file that can contain paths or agents instead. */
export interface DevAgentPaths {
  readonly paths: readonly string[];
  readonly configName: string | undefined;
  readonly cwd: string;
}

/** The agent files that the command line, or else the configuration file, selects. */
export class DevAgentFiles implements AgentFileSource {
  readonly #selection: DevAgentPaths;
  readonly #adk: AdkAgentFactory;
  /** The configuration file that the last search has read. */
  #configFile: string | undefined;
  #fileIds = new Map<string, string>();

  constructor(selection: DevAgentPaths, adk: AdkAgentFactory) {
    this.#selection = selection;
    this.#adk = adk;
  }

  async findFiles(): Promise<{ files: string[]; otherPaths: string[] }> {
    const agents = await this.#findAgents();
    if (!isConfigAgentPathList(agents)) {
      this.#fileIds = new Map();
      return { files: this.#configFile === undefined ? [] : [this.#configFile], otherPaths: [] };
    }
    const paths = agents.map((path) => resolve(this.#selection.cwd, path));
    const candidates = await findAgentFiles(paths.filter((path) => existsSync(path)));
    const found = candidates.flatMap((one) => ("fileId" in one ? [[one.file, one.fileId] as const] : []));
    this.#fileIds = new Map(found);
    // A new file in one of these directories can be an agent.
    const directories = [...paths, ...candidates.flatMap(({ file }) => [file, dirname(file)])].filter(
      isDirectory,
    );
    return { files: found.map(([file]) => file), otherPaths: [...paths, ...directories] };
  }

  /** Returns the selected paths that do not exist. They are served once they exist. */
  async listMissingPaths(): Promise<string[]> {
    const agents = await this.#findAgents();
    if (!isConfigAgentPathList(agents)) return [];
    return agents.filter((path) => !existsSync(resolve(this.#selection.cwd, path)));
  }

  async loadFile(file: string): Promise<LoadedAgentFile> {
    const fileId = this.#fileIds.get(file);
    if (fileId === undefined) return await this.#loadAgentsOfConfig();
    const loaded = await loadAgent(file, fileId, this.#adk, { alwaysTranspile: !CAN_RELOAD_ES_MODULES });
    if ("agent" in loaded) return { agents: { [loaded.id]: loaded.agent } };
    return { reason: loaded.skipped, ...(loaded.error === undefined ? {} : { error: loaded.error }) };
  }

  async #loadAgentsOfConfig(): Promise<LoadedAgentFile> {
    const agents = await this.#findAgents();
    return isConfigAgentPathList(agents) ? { reason: "lists agent files" } : { agents };
  }

  async #findAgents(): Promise<NonNullable<ServeConfig["agents"]>> {
    const { paths, configName, cwd } = this.#selection;
    if (paths.length > 0) return paths;
    const config = await readConfig(configName, cwd);
    this.#configFile = config?.file;
    if (config?.agents) return config.agents;
    const defaults = DEFAULT_PATHS.filter((path) => existsSync(join(cwd, path)));
    if (defaults.length > 0) return defaults;
    throw createUsageError(
      "No agent is given, and the folder has no agent.ts.",
      "Pass an agent file or a directory, or create a project with colloquy init.",
    );
  }
}
