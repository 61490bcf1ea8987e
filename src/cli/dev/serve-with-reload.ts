import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import type { Server } from "../../server/index.ts";
import type { ServeConfig } from "../../studio/config/index.ts";
import type { AgentReloadNotice, Console } from "../../studio/console/index.ts";
import {
  type AgentFileSource,
  AgentReloader,
  type AgentReloadReport,
  cleanReloadMarkers,
  FileWatcher,
  findModuleSyntaxError,
  formatErrorStack,
  isDirectory,
  isHalfWrittenFile,
  type LoadedAgentFile,
  ReloadableModules,
  SyntaxGate,
  toRelativePath,
  waitForSavedFiles,
} from "../../studio/dev/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import { renderTryCommands } from "../serve.ts";
import type { AdkAgentFactory } from "../serve/adk-agent-factory.ts";
import {
  applyConfig,
  isConfigAgentPathList,
  readConfig,
  warnAboutIgnoredConfigFiles,
} from "../serve/apply-config-file.ts";
import { findAgentFiles } from "../serve/find-agent-files.ts";
import { loadAgent } from "../serve/load-agent.ts";
import { type AgentsToServe, type ServeOptions, serveUntilStopped } from "../serve/serve-until-stopped.ts";
import { createDefaultRecord } from "./default-record.ts";
import { createDevLog } from "./dev-log.ts";
import {
  type DescribedFailure,
  describeNewFailures,
  formatFailures,
  formatReloadReport,
  formatRename,
  type ReloadLogContext,
} from "./reload-log.ts";

/** Options of `colloquy dev`. */
export interface DevOptions extends ServeOptions {
  config?: string;
}

/** Serves agents until the user stops the command, and reloads the agents of changed files. */
export async function serveWithReload(
  paths: readonly string[],
  configName: string | undefined,
  command: Command,
  processContext: CliContext,
): Promise<void> {
  const context = withCleanStacks(processContext);
  // The hooks record the imports of the configuration file, too.
  const modules = new ReloadableModules();
  const stopReporting = reportUncaughtErrors((text) => context.streams.err(text), context.cwd);
  try {
    const config = await readConfig(configName, context.cwd);
    if (configName === undefined) warnAboutIgnoredConfigFiles(config, paths, context);
    if (config) applyConfig(command, config);
    const serve = new ReloadingServer({ paths, configName, config }, modules, context);
    const options = command.opts<DevOptions>();
    const record = options.record ?? (await createDefaultRecord(options.store));
    await serveUntilStopped({ ...options, ...(record && { record }) }, context, (adk) =>
      serve.loadAgents(adk),
    );
  } finally {
    stopReporting();
    modules.close();
  }
}

interface DevSelection {
  readonly paths: readonly string[];
  readonly configName: string | undefined;
  /** The configuration at the start of the command. */
  readonly config: (ServeConfig & { readonly file: string }) | undefined;
}

/** The loop that reloads the agents of a server. */
class ReloadingServer {
  readonly #selection: DevSelection;
  readonly #modules: ReloadableModules;
  readonly #context: CliContext;
  readonly #logContext: ReloadLogContext;
  readonly #restartFiles: RestartFiles;
  readonly #noticeSource: ReloadNoticeSource;
  readonly #watcher = new FileWatcher();
  /** The current ids of renamed agents by their earlier ids, whose URLs and tasks stay until the command ends. */
  readonly #renamedAgents = new Map<string, string>();
  /** Changes whose reload has failed. */
  #unappliedChanges: ReadonlySet<string> = new Set();

  constructor(selection: DevSelection, modules: ReloadableModules, context: CliContext) {
    this.#selection = selection;
    this.#modules = modules;
    this.#context = context;
    this.#restartFiles = new RestartFiles(selection.config, context.cwd);
    this.#noticeSource = new ReloadNoticeSource(context.cwd);
    this.#logContext = {
      cwd: context.cwd,
      listImportedFiles: (file) => modules.listImportedFiles(file),
    };
  }

  /** Loads the agents. If a file has an error, and no agent is left, waits until the user has corrected a file. */
  async loadAgents(adk: AdkAgentFactory): Promise<AgentsToServe> {
    const { paths, configName } = this.#selection;
    const { cwd, interruptSignal, streams } = this.#context;
    const files = new DevAgentFiles({ paths, configName, cwd }, adk);
    const reloader = new AgentReloader(files, this.#modules, new SyntaxGate(findModuleSyntaxError));
    interruptSignal.addEventListener("abort", () => this.#watcher.close(), { once: true });
    let report = await this.#reload(reloader, new Set());
    let failures = await describeNewFailures(report.failures, this.#logContext);
    streams.err(formatFailures(failures));
    for (const path of await files.listMissingPaths())
      streams.err(
        `${path} does not exist (looked for ${resolve(cwd, path)}). It is served once it exists.\n`,
      );
    while (Object.keys(report.agents).length === 0) {
      streams.err("No agent is loaded yet. Correct a file, or add an agent file.\n");
      const changed = await waitForSavedFiles(this.#watcher, isHalfWrittenFile);
      if (!changed) throw interruptSignal.reason;
      report = await this.#reload(reloader, changed);
      failures = await describeNewFailures(report.failures, this.#logContext);
      streams.err(formatFailures(failures));
    }
    return {
      agents: { ...report.agents },
      serverOptions: { cardMaxAgeSeconds: 0 },
      createLog: (log) => createDevLog(log, this.#context),
      consoleMode: "dev",
      renderBannerFooter: (served, header) =>
        `A saved file is served at the next message.\n\n${renderTryCommands(served, header)}`,
      onListening: (server, console) => {
        // The console shows the failures of the start. The other agents are part of its list.
        this.#reportToConsole(console, { ...report, reloaded: [], added: [], removed: [] }, failures);
        void this.#reloadUntilClosed({ server, console }, reloader);
      },
      close: async () => this.#watcher.close(),
    };
  }

  async #reloadUntilClosed(
    { server, console }: { readonly server: Server; readonly console: Console | undefined },
    reloader: AgentReloader,
  ): Promise<void> {
    for (;;) {
      const changed = await waitForSavedFiles(this.#watcher, isHalfWrittenFile);
      if (!changed) return;
      try {
        const startedAt = performance.now();
        const report = await this.#reload(reloader, new Set([...changed, ...this.#unappliedChanges]));
        await this.#applyReport(server, report);
        const durationMs = performance.now() - startedAt;
        const failures = await describeNewFailures(report.failures, this.#logContext);
        this.#context.streams.err(formatReloadReport(report, durationMs, failures) + formatRename(report));
        this.#reportToConsole(console, report, failures);
        this.#context.streams.err(await this.#restartFiles.formatNotices(changed));
        this.#unappliedChanges = new Set();
      } catch (error) {
        this.#unappliedChanges = new Set([...changed, ...this.#unappliedChanges]);
        const message = error instanceof Error ? error.message : String(error);
        this.#context.streams.err(`The change is not applied: ${message}\n`);
      }
    }
  }

  #reportToConsole(
    console: Console | undefined,
    report: AgentReloadReport,
    failures: readonly DescribedFailure[],
  ): void {
    const at = new Date().toISOString();
    for (const notice of this.#noticeSource.listNotices(report, failures, at)) console?.reportReload(notice);
  }

  async #reload(reloader: AgentReloader, changed: ReadonlySet<string>): Promise<AgentReloadReport> {
    try {
      return await reloader.reload(changed);
    } finally {
      const watched = reloader.listWatchedPaths();
      this.#watcher.watchPaths([...watched, ...this.#restartFiles.listPaths(reloader.listAgentFiles())]);
    }
  }

  async #applyReport(server: Server, report: AgentReloadReport): Promise<void> {
    const { agents, reloaded, added, removed, renamed } = report;
    if (reloaded.length + added.length + removed.length === 0) return;
    if (renamed) {
      for (const [earlier, id] of this.#renamedAgents)
        if (id === renamed.from) this.#renamedAgents.set(earlier, renamed.to);
      this.#renamedAgents.set(renamed.from, renamed.to);
    }
    // The first agent also answers at the root path, so that each earlier id is next to its agent.
    const served = Object.entries(agents).flatMap((entry) => [
      ...[...this.#renamedAgents].flatMap(([earlier, id]) =>
        id === entry[0] && !Object.hasOwn(agents, earlier) ? [[earlier, entry[1]] as const] : [],
      ),
      entry,
    ]);
    if (served.length > 0) await server.replaceAgents(Object.fromEntries(served));
    else
      this.#context.streams.err("No agent is left. The last agents are served until a file has an agent.\n");
  }
}

/** Removes the versions of reloaded modules from everything that the command prints, such as the log. */
function withCleanStacks(context: CliContext): CliContext {
  const { streams } = context;
  const err = (text: string): void => streams.err(cleanReloadMarkers(text));
  const errColored = (text: string): void => streams.errColored(cleanReloadMarkers(text));
  return Object.create(context, { streams: { value: { ...streams, err, errColored } } }) as CliContext;
}

/** The paths that `colloquy dev` serves without arguments, if they exist. */
const DEFAULT_PATHS = ["agent.ts", "agent.mts", "agent.js", "agent.mjs", "agents"];

/** Paths from the command line, and the configuration file that can contain paths or agents instead. */
interface DevAgentPaths {
  readonly paths: readonly string[];
  readonly configName: string | undefined;
  readonly cwd: string;
}

/** The agent files that the command line, or else the configuration file, selects. */
class DevAgentFiles implements AgentFileSource {
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
    const loaded = await loadAgent(file, fileId, this.#adk);
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

/** Translates the reports about reloads to notices for the pages of the console. */
export class ReloadNoticeSource {
  readonly #cwd: string;
  /** Paths of new files that could not be loaded. Their notices name the path, because their agents have no id yet. */
  #failedPaths: ReadonlySet<string> = new Set();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Returns the notices about a reload at a time in ISO 8601 format. */
  listNotices(
    report: Pick<AgentReloadReport, "reloaded" | "added" | "removed" | "renamed" | "failures">,
    failures: readonly DescribedFailure[],
    at: string,
  ): AgentReloadNotice[] {
    const failedPaths = new Set(
      report.failures
        .filter(({ earlierAgentIds }) => earlierAgentIds.length === 0)
        .map(({ file }) => toRelativePath(file, this.#cwd)),
    );
    const correctedPaths = [...this.#failedPaths].filter((path) => !failedPaths.has(path));
    this.#failedPaths = failedPaths;
    const { reloaded, added, removed, renamed } = report;
    return [
      ...[...removed, ...correctedPaths].map((agent) => ({ kind: "agentRemoved", agent, at }) as const),
      ...[...reloaded, ...added].map(
        (agent) =>
          ({
            kind: "agentReloaded",
            agent,
            at,
            ...(renamed?.to === agent && { earlierId: renamed.from }),
          }) as const,
      ),
      ...failures.flatMap(({ path, message, stack, earlierAgentIds }) =>
        (earlierAgentIds.length > 0 ? earlierAgentIds : [path]).map(
          (agent) =>
            ({
              kind: "agentLoadFailed",
              agent,
              at,
              message,
              ...(stack === undefined ? {} : { stack }),
            }) as const,
        ),
      ),
    ];
  }
}

/**
 * Reports errors that agent code throws outside of a turn, for example in a timer. Without this function, such an error
 * ends the process. Returns a function that restores the default behavior.
 */
function reportUncaughtErrors(write: (text: string) => void, cwd: string): () => void {
  const report = (error: unknown): void => {
    const lines = formatErrorStack(error, cwd).replaceAll(/^/gm, "  ");
    write(`An error outside of a turn was not caught; the server continues.\n${lines}\n`);
  };
  process.on("uncaughtException", report).on("unhandledRejection", report);
  return () => {
    process.off("uncaughtException", report).off("unhandledRejection", report);
  };
}

/** The files whose settings only a restart applies: the configuration file, and the `.env` files of agents. */
class RestartFiles {
  readonly #config: (ServeConfig & { readonly file: string }) | undefined;
  readonly #cwd: string;

  /** `config` is the configuration at the start of the command. */
  constructor(config: (ServeConfig & { readonly file: string }) | undefined, cwd: string) {
    this.#config = config;
    this.#cwd = cwd;
  }

  /** Returns the paths to watch. The files need not exist. */
  listPaths(agentFiles: Iterable<string>): string[] {
    const envFiles = new Set([...agentFiles].map((file) => join(dirname(file), ".env")));
    return this.#config ? [...envFiles, this.#config.file] : [...envFiles];
  }

  /** Returns a line for each changed file with settings that are not applied yet. */
  async formatNotices(changed: ReadonlySet<string>): Promise<string> {
    const notices = [...changed]
      .filter((path) => path.endsWith(".env"))
      .map((path) => `${toRelativePath(path, this.#cwd)} has changed.`);
    if (this.#config && changed.has(this.#config.file)) {
      const keys = listChangedSettings(this.#config, await readConfig(this.#config.file, this.#cwd));
      if (keys.length > 0)
        notices.push(
          `${toRelativePath(this.#config.file, this.#cwd)} has a new value of ${keys.join(", ")}.`,
        );
    }
    return notices.map((notice) => `${notice} Restart colloquy dev to apply the change.\n`).join("");
  }
}

/** Returns the names of the settings that differ, without the agents. */
function listChangedSettings(earlier: ServeConfig, current: ServeConfig = {}): string[] {
  const keys = new Set([...Object.keys(earlier), ...Object.keys(current)]) as Set<keyof ServeConfig>;
  return [...keys].filter(
    (key) => key !== "agents" && JSON.stringify(earlier[key]) !== JSON.stringify(current[key]),
  );
}
