import { Command, InvalidArgumentError, Option } from "commander";
import type { Agent } from "../engine/index.ts";
import type { Context } from "./context.ts";
import { outputOption } from "./options.ts";
import { Problem } from "./problem.ts";
import type { AdkAgents } from "./serve/adk.ts";
import { addAuthOptions } from "./serve/authentication.ts";
import { curlLine, sendLine, type Served } from "./serve/banner.ts";
import type { ServeOptions } from "./serve/run.ts";

interface Options extends ServeOptions {
  exec?: string;
  shell?: boolean;
  name?: string;
}

export function serveCommand(context: Context): Command {
  return addServeOptions(new Command("serve"))
    .argument("[paths...]", "agent files (agent.ts), or directories with name.ts and name/agent.ts")
    .option("--exec <command>", "serve a command: it reads the message on stdin, its output is the answer")
    .option("--shell", "run the command of --exec with /bin/sh, for pipes and redirections")
    .option("--name <id>", "the name under which --exec is served")
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
    .action(async (paths: string[], options: Options) => serve(paths, options, context));
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

async function serve(paths: string[], options: Options, context: Context): Promise<void> {
  if (options.exec === undefined && paths.length === 0) {
    const hint = "colloquy serve --help";
    throw new Problem("A2ACLI_ERR_USAGE", "Name an agent file or a directory, or use --exec.", hint);
  }
  const { serveUntilStopped } = await import("./serve/run.ts");
  await serveUntilStopped(options, context, async (adk) => {
    const { agents, skipped } = await loadAgents(paths, options, adk);
    return { agents, below: (served, header) => notServed(skipped) + tryLines(served, header) };
  });
}

async function loadAgents(
  paths: string[],
  { exec, shell, name }: Options,
  adk: AdkAgents,
): Promise<{ agents: Record<string, Agent>; skipped: string[] }> {
  if (exec === undefined) {
    const { loadFiles } = await import("./serve/files.ts");
    return loadFiles(paths, adk);
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

function port(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0 || number > 65_535) {
    throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
  }
  return number;
}
