import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import type { CliContext } from "./cli-context.ts";
import { appendValue, createOutputOption, parsePort } from "./client-options.ts";
import { createUsageError } from "./cli-error.ts";
import { createPrivateAgentsOption } from "./console/private-agents-option.ts";
import type { ConsoleCommandOptions } from "./console/run-console.ts";
import { addAuthOptions } from "./serve/serve-auth-options.ts";
import { createPriceOption } from "./trace/price-option.ts";

export function createConsoleCommand(context: CliContext): Command {
  return addAuthOptions(new Command("console"))
    .argument("[agents...]", "URLs of agents, and files of traffic records")
    .addOption(
      new Option(
        "--port <number>",
        "port to listen on, or 0 for any free port; the default port moves to the next free port",
      )
        .argParser(parsePort)
        .implies({ strictPort: true })
        .default(4180),
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--public-url <url>", "URL of this console for browsers, if it is behind a proxy")
    .addOption(createPrivateAgentsOption())
    .option("--open", "open the console in the default browser")
    .option(
      "--card-key <file>",
      "trust the public keys in this file to sign agent cards; repeatable",
      appendValue,
    )
    .option("--card-jwks <url>", "trust the keys at this URL to sign agent cards; repeatable", appendValue)
    .addOption(createPriceOption())
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .addHelpText(
      "after",
      `
The command prints a URL with a token, which opens the console in a browser. The token is valid until the command ends.

Examples:
  colloquy console http://127.0.0.1:4120
  colloquy console https://agent.example.com other.example.com
  colloquy console record.jsonl`,
    )
    .action(async (targets: string[], options: ConsoleCommandOptions) => {
      const { agentUrls, recordFiles } = splitTargets(targets);
      const [{ runConsole }, { checkRecordFile }] = await Promise.all([
        import("./console/run-console.ts"),
        import("./console/check-record-file.ts"),
      ]);
      for (const file of recordFiles) await checkRecordFile(file, context);
      await runConsole({ agentUrls, recordFiles }, options, context);
    });
}

/** Separates record files from URLs. A name with a file ending that does not exist is a mistake, and no host. */
function splitTargets(targets: readonly string[]): { agentUrls: string[]; recordFiles: string[] } {
  const agentUrls: string[] = [];
  const recordFiles: string[] = [];
  for (const target of targets) {
    const isFileName = /\.jsonl(\.gz)?$/.test(target);
    if (isFileName && !existsSync(target))
      throw createUsageError(
        `The record file ${target} does not exist.`,
        "Create one with colloquy serve --record.",
      );
    (isFileName ? recordFiles : agentUrls).push(target);
  }
  return { agentUrls, recordFiles };
}
