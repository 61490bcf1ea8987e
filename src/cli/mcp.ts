import { addOptionRows } from "./option-rows.ts";
import { existsSync } from "node:fs";
import { Writable } from "node:stream";
import { Command } from "commander";
import type { McpAgentSource } from "../agents/mcp/index.ts";
import { type A2AClient, untilAborted } from "../client/index.ts";
import type { Agent } from "../engine/index.ts";
import type { StoreOption } from "../server/index.ts";
import { connectToAgent } from "./agent-connection.ts";
import {
  applySettings,
  assertTrustedAgentForCredentials,
  collectSettingFileWarnings,
} from "./apply-settings.ts";
import type { CliContext } from "./cli-context.ts";
import { createUsageError, toCliError } from "./cli-error.ts";
import { addClientOptions, type ClientOptions, parseDuration, parsePort } from "./client-options.ts";
import { CREDENTIAL_OPTIONS } from "./credential-redactor.ts";
import { isLocalPath } from "./is-local-path.ts";
import { OutputWriter } from "./output-writer.ts";
import { readPackageVersion } from "./package-version.ts";
import { AdkAgentFactory } from "./serve/adk-agent-factory.ts";
import { createStderrLogObserver } from "./serve/serve-until-stopped.ts";
import { readSettingsFromEnvAndFiles } from "./settings.ts";
import { waitForAbort } from "./wait-for-abort.ts";

interface McpOptions extends ClientOptions {
  port?: number;
  store: string;
  wait?: number;
  askUser?: boolean;
}

/** Client options that a server with several agents cannot support. */
const HIDDEN_OPTIONS = new Set(["--agent-card", "--output", "--stream", "--verbose", "--timeout"]);

const OPTION_ROWS = `
--port <number>  listen for streamable HTTP on 127.0.0.1, 0 for any free port (default: stdio)
--store <store>  task store for agent files: memory, sqlite:FILE, or postgres://USER@HOST/DATABASE
--wait <duration>  time limit after which a call returns the unfinished task (default: none)
--ask-user  send an agent's questions to the host's user if supported (default: MCP tasks only)`;

export function createMcpCommand(context: CliContext): Command {
  const command = addOptionRows(addClientOptions(new Command("mcp")), OPTION_ROWS, {
    values: { port: parsePort, wait: parseDuration },
    defaults: { store: ["memory"] },
  })
    .usage("<agent...> [options]")
    .argument("<agents...>", "URLs of agents, and agent files or directories as for serve")
    .addHelpText(
      "after",
      `
Each skill of each agent becomes a tool. The host starts the command, with this configuration:
  { "mcpServers": { "agents": { "command": "colloquy", "args": ["mcp", "https://agent.example.com"] } } }
Credentials go into its "env" (A2ACLI_BEARER …).

Examples:
  colloquy mcp http://127.0.0.1:4120
  colloquy mcp agent.ts https://agent.example.com
  colloquy mcp agents/ --port 4130`,
    )
    .action(async (refs: string[], flags: McpOptions, self: Command) => {
      const settings = readSettingsFromEnvAndFiles(flags.config, context);
      applySettings(self, settings);
      assertTrustedAgentForCredentials(self, settings, true);
      const options = self.opts<McpOptions>();
      const output = new OutputWriter(context.streams, "text", { jsonLines: false, verbose: false });
      for (const caution of collectSettingFileWarnings(self, settings)) output.writeWarning(caution);
      await runMcp(refs, options, context);
    });
  for (const option of command.options) if (HIDDEN_OPTIONS.has(option.long ?? "")) option.hideHelp();
  return command;
}

async function runMcp(refs: string[], options: McpOptions, context: CliContext): Promise<void> {
  const { port, store, wait, askUser } = options;
  // Reserves stdout before any agent is loaded, because an MCP host would parse an agent's output as protocol
  // messages.
  const stdout = port === undefined ? reserveStdout() : undefined;
  const observer = createStderrLogObserver(context);
  const adk = new AdkAgentFactory(observer);
  const loading = loadOrConnectAgents(refs, options, context, adk);
  const agents = await untilAborted(loading, context.interruptSignal);
  const { createMcpServer } = await import("../agents/mcp/index.ts");
  const server = await createMcpServer(agents, {
    version: readPackageVersion(),
    serverOptions: { store: store as StoreOption },
    observer,
    ...(wait === undefined ? {} : { waitMs: wait }),
    ...(askUser ? { askUser } : {}),
  });
  const stop = (): void => void server.close();
  context.interruptSignal.addEventListener("abort", stop, { once: true });
  try {
    if (stdout) await server.serveStdio({ stdin: process.stdin, stdout });
    else await listenUntilInterrupted(server, port as number, context);
  } finally {
    await server.close();
  }
}

async function listenUntilInterrupted(
  server: { listen(options: { port: number }): Promise<{ url: string }>; tools: readonly { name: string }[] },
  port: number,
  { streams, interruptSignal }: CliContext,
): Promise<void> {
  const { url } = await server.listen({ port });
  streams.out(`${url}\n`);
  streams.err(`${server.tools.map(({ name }) => `  ${name}\n`).join("")}Ctrl-C stops it.\n`);
  await waitForAbort(interruptSignal);
}

/**
 * Loads the local agents in `refs` and connects to the remote agents. The keys of the returned map are the
 * prefixes of the agents' tool names.
 */
async function loadOrConnectAgents(
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
  const { loadAgentFiles } = await import("./serve/load-agent-files.ts");
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

/**
 * Returns a stream that writes protocol messages to stdout. If agents or their dependencies write to
 * `process.stdout`, the output goes to stderr.
 */
function reserveStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const stdout = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => void write(chunk, done),
  });
  // Each pending response adds a listener, so many listeners are not a leak.
  return stdout.setMaxListeners(0);
}
