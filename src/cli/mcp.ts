import { Command, Option } from "commander";
import type { StoreChoice } from "../server/index.ts";
import { applySettings, cautionsOf } from "./apply-settings.ts";
import type { Context } from "./context.ts";
import { openAgents } from "./mcp/open-agents.ts";
import { takeStdout } from "./mcp/take-stdout.ts";
import { addClientOptions, duration, port, type ClientOptions } from "./options.ts";
import { Output } from "./output.ts";
import { AdkAgents } from "./serve/adk.ts";
import { errorsTo } from "./serve/run.ts";
import { readSettings } from "./settings.ts";
import { packageVersion } from "./version.ts";

interface Options extends ClientOptions {
  port?: number;
  store: string;
  wait?: number;
  askUser?: boolean;
}

/** Of those that talk to one agent, once. */
const OF_OTHERS = new Set(["--agent-card", "--output", "--stream", "--verbose", "--timeout"]);

export function mcpCommand(context: Context): Command {
  const command = addClientOptions(new Command("mcp"))
    .usage("<agent...> [options]")
    .argument("<agents...>", "agents by their URLs, and agent files or directories as serve takes them")
    .addOption(
      new Option(
        "--port <number>",
        "listen for streamable HTTP on 127.0.0.1, 0 for any free port (default: stdio)",
      ).argParser(port),
    )
    .option("--store <store>", "where tasks of agent files live: memory, or sqlite:FILE", "memory")
    .addOption(
      new Option(
        "--wait <duration>",
        "after this long a call gives the task as it is, and the model can wait on (default: as long as it takes)",
      ).argParser(duration),
    )
    .option(
      "--ask-user",
      "what an agent asks goes to the host's user where the host can do that (default: to the model)",
    )
    .addHelpText(
      "after",
      `
Each skill of each agent becomes a tool. Hosts start the command by themselves; in their configuration:
  { "mcpServers": { "agents": { "command": "colloquy", "args": ["mcp", "https://agent.example.com"] } } }
Credentials go into its "env" (A2ACLI_BEARER …).

Examples:
  colloquy mcp http://127.0.0.1:4120
  colloquy mcp agent.ts https://agent.example.com
  colloquy mcp agents/ --port 4130`,
    )
    .action(async (refs: string[], said: Options, self: Command) => {
      const settings = readSettings(said.config, context);
      applySettings(self, settings);
      const options = self.opts<Options>();
      const output = new Output(context.streams, "text", { lines: false, verbose: false });
      for (const caution of cautionsOf(self, settings)) output.warning(caution);
      await serve(refs, options, context);
    });
  for (const option of command.options) if (OF_OTHERS.has(option.long ?? "")) option.hideHelp();
  return command;
}

async function serve(refs: string[], options: Options, context: Context): Promise<void> {
  const { port, store, wait, askUser } = options;
  // Before any agent is loaded: what that prints would be taken for the protocol.
  const stdout = port === undefined ? takeStdout() : undefined;
  const observer = errorsTo(context);
  const adk = new AdkAgents(store, observer);
  try {
    const agents = await openAgents(refs, options, context, adk);
    const { createMcpServer } = await import("../mcp/index.ts");
    const server = await createMcpServer(agents, {
      version: packageVersion(),
      server: { store: store as StoreChoice },
      observer,
      ...(wait === undefined ? {} : { waitMs: wait }),
      ...(askUser ? { askUser } : {}),
    });
    const stop = (): void => void server.close();
    context.interrupted.addEventListener("abort", stop, { once: true });
    try {
      if (stdout) await server.stdio({ stdin: process.stdin, stdout });
      else await listen(server, port as number, context);
    } finally {
      await server.close();
    }
  } finally {
    adk.close();
  }
}

async function listen(
  server: { listen(options: { port: number }): Promise<{ url: string }>; tools: readonly { name: string }[] },
  port: number,
  { streams, interrupted }: Context,
): Promise<void> {
  const { url } = await server.listen({ port });
  streams.out(`${url}\n`);
  streams.err(`${server.tools.map(({ name }) => `  ${name}\n`).join("")}Ctrl-C stops it.\n`);
  await new Promise<void>((resolve) => {
    if (interrupted.aborted) resolve();
    else interrupted.addEventListener("abort", () => resolve(), { once: true });
  });
}
