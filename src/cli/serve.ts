import { Command, Option } from "commander";
import type { Config } from "../config/index.ts";
import type { Agent } from "../engine/index.ts";
import type { Context } from "./context.ts";
import { outputOption, port } from "./options.ts";
import { Problem } from "./problem.ts";
import type { AdkAgents } from "./serve/adk.ts";
import { addAuthOptions } from "./serve/authentication.ts";
import { curlLine, sendLine, type Served } from "./serve/banner.ts";
import type { ServeOptions } from "./serve/run.ts";

interface Options extends ServeOptions {
  exec?: string;
  shell?: boolean;
  name?: string;
  config?: string;
}

export function serveCommand(context: Context): Command {
  return addServeOptions(new Command("serve"))
    .argument("[paths...]", "agent files (agent.ts), or directories with name.ts and name/agent.ts")
    .option("--exec <command>", "serve a command: it reads the message on stdin, its output is the answer")
    .option("--shell", "run the command of --exec with /bin/sh, for pipes and redirections")
    .option("--name <id>", "the name under which --exec is served")
    .option(
      "--config <file>",
      "the file with what is not said here (default: colloquy.config.ts, if there is one)",
    )
    .addHelpText(
      "after",
      `
A file exports its agent as rootAgent, agent or default: an ADK agent, agent(…), or an async generator function.

Examples:
  colloquy serve agent.ts
  colloquy serve agents/ --port 8080
  colloquy serve --exec "jq ."
  colloquy serve agent.ts --host 0.0.0.0 --auth-token-env MY_TOKEN`,
    )
    .action(async (paths: string[], said: Options, self: Command) => {
      const { applyConfig, readConfig } = await import("./serve/config.ts");
      const config = await readConfig(said.config, context.cwd);
      if (config) applyConfig(self, config);
      await serve(paths, self.opts<Options>(), context, config?.agents);
    });
}

export function addServeOptions(command: Command): Command {
  return addAuthOptions(command)
    .addOption(
      new Option("--port <number>", "port to listen on; the next free one when it is taken, 0 for any")
        .env("PORT")
        .argParser(port)
        .default(4120),
    )
    .option("--strict-port", "fail when the port is taken")
    .addOption(
      new Option("--grpc-port <number>", "also serve gRPC, on this port; 0 for any that is free").argParser(
        port,
      ),
    )
    .option("--openai", "also serve the agents as models of OpenAI's chat API, at /v1")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--store <store>", "where tasks live: memory, or sqlite:FILE", "sqlite:.colloquy/colloquy.db")
    .option("--public-url <url>", "where clients reach this server, when it is behind a proxy")
    .option("--allow-unauthenticated", "let everybody in, also from other machines")
    .option(
      "--allow-private-webhooks",
      "send push notifications to this machine and its networks, not only to the internet",
    )
    .addOption(outputOption().env("A2ACLI_OUTPUT"));
}

async function serve(
  said: readonly string[],
  options: Options,
  context: Context,
  configured: Config["agents"] = [],
): Promise<void> {
  const isSaid = options.exec !== undefined || said.length > 0;
  const agents = isSaid ? said : configured;
  if (options.exec === undefined && Object.keys(agents).length === 0) {
    const hint = "colloquy serve --help";
    const message = "Name an agent file or a directory, use --exec, or make a project with colloquy init.";
    throw new Problem("A2ACLI_ERR_USAGE", message, hint);
  }
  const { serveUntilStopped } = await import("./serve/run.ts");
  await serveUntilStopped(options, context, async (adk) => {
    const loaded = await loadAgents(agents, options, adk);
    return {
      agents: loaded.agents,
      below: (served, header) => notServed(loaded.skipped) + tryLines(served, header),
    };
  });
}

async function loadAgents(
  wanted: NonNullable<Config["agents"]>,
  { exec, shell, name }: Options,
  adk: AdkAgents,
): Promise<{ agents: Record<string, Agent>; skipped: string[] }> {
  if (exec === undefined) {
    const { isList } = await import("./serve/config.ts");
    if (!isList(wanted)) return { agents: wanted, skipped: [] };
    const { loadFiles } = await import("./serve/files.ts");
    return loadFiles(wanted, adk);
  }
  const { command } = await import("../adapters/index.ts");
  const { toId } = await import("./serve/find.ts");
  const agent = command(exec, { ...(shell ? { shell } : {}), ...(name ? { name } : {}) });
  return { agents: { [toId((await agent.describe()).name)]: agent }, skipped: [] };
}

/** No file is passed over in silence. */
function notServed(skipped: readonly string[]): string {
  return skipped.length === 0 ? "" : `Not served\n${skipped.map((line) => `  ${line}\n`).join("")}\n`;
}

function tryLines([first]: readonly Served[], header?: string): string {
  if (!first) return "";
  const text = first.description.skills?.[0]?.examples?.[0] ?? "Hello!";
  return `Try\n${sendLine(first.url, text, "--stream")}${curlLine(first.url, text, header)}`;
}
