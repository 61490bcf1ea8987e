import { Command, Option } from "commander";
import type { ServeConfig } from "../studio/config/index.ts";
import { deriveAgentId } from "../protocol/index.ts";
import type { CliContext } from "./cli-context.ts";
import { appendValue, createOutputOption, parseDays, parseDuration, parsePort } from "./client-options.ts";
import { createUsageError } from "./cli-error.ts";
import { createPrivateAgentsOption } from "./console/private-agents-option.ts";
import type { AdkAgentFactory } from "./serve/adk-agent-factory.ts";
import type { LoadedAgents } from "./serve/load-agent-files.ts";
import { addOptionRows } from "./option-rows.ts";
import { addAuthOptions } from "./serve/serve-auth-options.ts";
import { createPriceOption } from "./trace/price-option.ts";
import { renderCurlCommand, renderSendCommand, type ServedAgentSummary } from "./serve/banner.ts";
import type { ServeOptions } from "./serve/serve-until-stopped.ts";

interface ServeCommandOptions extends ServeOptions {
  exec?: string;
  shell?: boolean;
  passEnv?: string[];
  name?: string;
  config?: string;
}

const SERVE_EXAMPLES = `
  colloquy serve agent.ts
  colloquy serve agents/ --port 8080
  colloquy serve --exec "jq ."
  colloquy serve agent.ts --host 0.0.0.0 --auth-token-env MY_TOKEN`;

const WORKER_EXAMPLES = `
  colloquy worker agent.ts --store postgres://app@db/tasks
  colloquy worker agent.ts --store postgres://app@db/tasks --once --time-limit 5m`;

/** Creates the command `serve`, or the command `worker`, which has the same arguments. */
export function createServeCommand(context: CliContext, name: "serve" | "worker" = "serve"): Command {
  const isWorker = name === "worker";
  return addServeOptions(new Command(name), { hasRoleOption: !isWorker })
    .argument("[paths...]", "agent files (agent.ts), or directories with name.ts or name/agent.ts")
    .option("--exec <command>", "serve a command that reads the message from stdin and prints the answer")
    .option("--shell", "run the command of --exec with /bin/sh, for pipes and redirections (not on Windows)")
    .option(
      "--pass-env <name>",
      "a variable of the environment that the command of --exec inherits; repeatable (default: none with secrets)",
      appendValue,
    )
    .option("--name <id>", "name of the agent for --exec")
    .option("--config <file>", "configuration file for options not given here (default: colloquy.config.ts)")
    .addHelpText(
      "after",
      `
A file exports its agent as rootAgent, agent, or default: an ADK agent, agent(…), or an async generator function.

Examples:${isWorker ? WORKER_EXAMPLES : SERVE_EXAMPLES}`,
    )
    .action(async (paths: string[], said: ServeCommandOptions, self: Command) => {
      const { applyConfig, readConfig, warnAboutIgnoredConfigFiles } =
        await import("./serve/apply-config-file.ts");
      const config = await readConfig(said.config, context.cwd);
      if (said.config === undefined) warnAboutIgnoredConfigFiles(config, paths, context);
      if (config) applyConfig(self, config);
      const options = { ...self.opts<ServeCommandOptions>(), commandName: name };
      await runServe(paths, options, context, config?.agents);
    });
}

/** Defaults that differ between the commands that serve agents. */
interface ServeDefaults {
  /** Default of `--store`. Default: `sqlite:.colloquy/colloquy.db`. */
  readonly store?: string;
  /** Whether the command serves the console unless `--no-console` is set. Default: false. */
  readonly console?: boolean;
  /** Whether the command has the option `--role`. Default: true. */
  readonly hasRoleOption?: boolean;
}

const PORT_OPTION_ROWS = `
--strict-port  fail if the default or configured port is in use
--grpc-port <number>  also serve gRPC on this port; 0 for any free port
--grpc-unlisted  leave gRPC out of the agent cards, for ADK for Python
`;
const SERVER_OPTION_ROWS = `
--operator-token-file <file>  file with the token of an operator, who sees the tasks of all callers in the console
--text-index  index the text of tasks, so that the console searches for words
--openai  also serve the agents as models of OpenAI's chat API at /v1
--host <address>  address to listen on
--store <store>  task store: memory, sqlite:FILE, or postgres://USER@HOST/DATABASE
--keep-tasks <days>  days to keep ended tasks; 0 keeps all tasks (default: 30)
`;
const OPERATION_OPTION_ROWS = `
--drain <duration>  time in which a stopping server still serves requests, and /readyz replies with 503 (default: 0s)
--public-url <url>  URL of this server for clients, if it is behind a proxy
--cors-origin <origin>  origin of web pages that may call the agents, such as https://shop.example, or *; repeatable
--allow-unauthenticated  accept all callers without authentication, also from other machines
--allow-private-webhooks  also send push notifications to this machine and to private networks
--log-format <format>  format of the log (default: pretty on a terminal, else json)
--log-requests  also log a line for each request
--record <file>  append the traffic to this file, without credentials; colloquy trace show reads it
--otlp <url>  send spans and metrics to this collector, such as http://127.0.0.1:4318
--metrics-port <number>  also reply to GET /metrics on this port, without authentication; 0 for any free port`;
const ROLE_OPTION_ROW =
  "--role <role>  web starts no agents, worker accepts no A2A requests; requires a postgres:// store (default: all)";

const SERVE_OPTION_VALUES = {
  "cors-origin": appendValue,
  drain: parseDuration,
  "grpc-port": parsePort,
  "keep-tasks": parseDays,
  "log-format": ["json", "pretty"],
  "metrics-port": parsePort,
  role: ["web", "worker", "all"],
};

/** Adds the options of a command that serves agents. */
export function addServeOptions(
  command: Command,
  { store = "sqlite:.colloquy/colloquy.db", console = false, hasRoleOption = true }: ServeDefaults = {},
): Command {
  addAuthOptions(command).addOption(
    new Option(
      "--port <number>",
      "port to listen on, or 0 for any free port; the default port moves to the next free port",
    )
      .env("PORT")
      .argParser(parsePort)
      .implies({ strictPort: true })
      .default(4120),
  );
  addOptionRows(command, PORT_OPTION_ROWS, { values: SERVE_OPTION_VALUES })
    .option(
      console ? "--no-console" : "--console",
      `${console ? "omit" : "also serve"} the console, a web page that shows and starts tasks, at /console/`,
    )
    .option("--open", "open the console in the default browser")
    .addOption(createPriceOption())
    .addOption(createPrivateAgentsOption());
  const defaults = { host: ["127.0.0.1"], store: [store] } as const;
  const rows = [SERVER_OPTION_ROWS, ...(hasRoleOption ? [ROLE_OPTION_ROW] : []), OPERATION_OPTION_ROWS];
  for (const part of rows) addOptionRows(command, part, { values: SERVE_OPTION_VALUES, defaults });
  return command.addOption(createOutputOption().env("A2ACLI_OUTPUT"));
}

async function runServe(
  paths: readonly string[],
  options: ServeCommandOptions,
  context: CliContext,
  configured: ServeConfig["agents"] = [],
): Promise<void> {
  const isGiven = options.exec !== undefined || paths.length > 0;
  const agents = isGiven ? paths : configured;
  if (options.exec === undefined && Object.keys(agents).length === 0) {
    const hint = `colloquy ${options.commandName} --help`;
    const message =
      "No agent is given. Pass an agent file or directory, use --exec, or create a project with colloquy init.";
    throw createUsageError(message, hint);
  }
  const { serveUntilStopped } = await import("./serve/serve-until-stopped.ts");
  await serveUntilStopped(options, context, async (adk) => {
    const loaded = await loadAgentsToServe(agents, options, adk);
    return {
      agents: loaded.agents,
      renderBannerFooter: (served, header) =>
        renderSkippedFiles(loaded.skipped) +
        // A worker accepts no requests.
        (options.role === "worker" ? "" : renderTryCommands(served, header)),
    };
  });
}

async function loadAgentsToServe(
  agents: NonNullable<ServeConfig["agents"]>,
  { exec, shell, name, passEnv = [] }: ServeCommandOptions,
  adk: AdkAgentFactory,
): Promise<LoadedAgents> {
  if (exec === undefined) {
    const { isConfigAgentPathList: isPathList } = await import("./serve/apply-config-file.ts");
    if (!isPathList(agents)) return { agents, skipped: [] };
    const { loadAgentFiles } = await import("./serve/load-agent-files.ts");
    return loadAgentFiles(agents, adk);
  }
  const { command } = await import("../agents/adapters/index.ts");
  const missing = passEnv.find((variable) => process.env[variable] === undefined);
  if (missing !== undefined)
    throw createUsageError(
      `The environment has no variable ${missing}.`,
      "Set the variable, or omit --pass-env.",
    );
  const agent = command(exec, { ...(shell ? { shell } : {}), ...(name ? { name } : {}), passEnv });
  const { name: agentName } = await agent.describe();
  return { agents: { [deriveAgentId(agentName)]: agent }, skipped: [] };
}

/** Lists the skipped agent files, with the reason for each file. */
function renderSkippedFiles(skipped: readonly string[]): string {
  return skipped.length === 0 ? "" : `Not served\n${skipped.map((line) => `  ${line}\n`).join("")}\n`;
}

export function renderTryCommands([first]: readonly ServedAgentSummary[], header?: string): string {
  if (!first) return "";
  const text = first.description.skills?.[0]?.examples?.[0] ?? "Hello!";
  return `Try\n${renderSendCommand(first.url, text, "--stream")}${renderCurlCommand(first.url, text, header)}`;
}
