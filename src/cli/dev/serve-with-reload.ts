import { resolve } from "node:path";
import type { Command } from "commander";
import type { ServeConfig } from "../../studio/config/index.ts";
import type { Console } from "../../studio/console/index.ts";
import {
  AgentReloader,
  cleanReloadMarkers,
  FileWatcher,
  findModuleSyntaxError,
  isHalfWrittenFile,
  ReloadableModules,
  SyntaxGate,
  waitForSavedFiles,
  type AgentReloadReport,
} from "../../studio/dev/index.ts";
import type { Server } from "../../server/index.ts";
import type { CliContext } from "../cli-context.ts";
import { applyConfig, readConfig, warnAboutIgnoredConfigFiles } from "../serve/apply-config-file.ts";
import { renderTryCommands } from "../serve.ts";
import type { AdkAgentFactory } from "../serve/adk-agent-factory.ts";
import { serveUntilStopped, type AgentsToServe, type ServeOptions } from "../serve/serve-until-stopped.ts";
import { createDevLog } from "./dev-log.ts";
import { createDefaultRecord } from "./default-record.ts";
import { DevAgentFiles } from "./dev-agent-files.ts";
import { reportUncaughtErrors } from "./report-uncaught-errors.ts";
import {
  describeNewFailures,
  formatFailures,
  formatReloadReport,
  formatRename,
  type DescribedFailure,
  type ReloadLogContext,
} from "./reload-log.ts";
import { ReloadNoticeSource } from "./reload-notices.ts";
import { RestartFiles } from "./restart-files.ts";

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
