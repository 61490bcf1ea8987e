import { Command, Option } from "commander";
import {
  applySettings,
  assertTrustedAgentForCredentials,
  collectSettingFileWarnings,
} from "./apply-settings.ts";
import type { CliContext } from "./cli-context.ts";
import { loadOrConnectAgents } from "./mcp/load-or-connect-agents.ts";
import { reserveStdout } from "./mcp/reserve-stdout.ts";
import { addClientOptions, parseDuration, parsePort, type ClientOptions } from "./client-options.ts";
import { OutputWriter } from "./output-writer.ts";
import type { StoreOption } from "../server/index.ts";
import { AdkAgentFactory } from "./serve/adk-agent-factory.ts";
import { createStderrLogObserver } from "./serve/serve-until-stopped.ts";
import { readSettingsFromEnvAndFiles } from "./settings.ts";
import { untilAborted } from "../client/index.ts";
import { waitForAbort } from "./wait-for-abort.ts";
import { readPackageVersion } from "./package-version.ts";

interface McpOptions extends ClientOptions {
  port?: number;
  store: string;
  wait?: number;
  askUser?: boolean;
}

/** Client options that a server with several agents cannot support. */
const HIDDEN_OPTIONS = new Set(["--agent-card", "--output", "--stream", "--verbose", "--timeout"]);

export function createMcpCommand(context: CliContext): Command {
  const command = addClientOptions(new Command("mcp"))
    .usage("<agent...> [options]")
    .argument("<agents...>", "URLs of agents, and agent files or directories as for serve")
    .addOption(
      new Option(
        "--port <number>",
        "listen for streamable HTTP on 127.0.0.1, 0 for any free port (default: stdio)",
      ).argParser(parsePort),
    )
    .option(
      "--store <store>",
      "task store for agent files: memory, sqlite:FILE, or postgres://USER@HOST/DATABASE",
      "memory",
    )
    .addOption(
      new Option(
        "--wait <duration>",
        "time limit after which a call returns the unfinished task (default: none)",
      ).argParser(parseDuration),
    )
    .option(
      "--ask-user",
      "send an agent's questions to the host's user if supported (default: MCP tasks only)",
    )
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
