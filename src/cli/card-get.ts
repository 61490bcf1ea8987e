import { Command } from "commander";
import { loadAgentCard } from "./agent-card-loader.ts";
import { defineAgentCardCommand } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";

interface CardGetOptions extends ClientOptions {
  validate?: boolean;
  extended?: boolean;
}

export function createCardGetCommand(context: CliContext): Command {
  const command = new Command("get")
    .option("--validate", "also check the card against A2A 1.0, and fail if it is invalid")
    .option("--extended", "get the extended card, which requires authentication");
  return defineAgentCardCommand<CardGetOptions>(
    command,
    context,
    async ({ card, servedJson, options, output }) => {
      if (options.validate) (await import("./card-validate.ts")).assertValidCardJson(servedJson);
      output.writeCard(card);
    },
    async (ref, options, cliContext) => {
      if (!options.extended) return loadAgentCard(ref, options, cliContext);
      const { loadExtendedCard } = await import("./agent-connection.ts");
      return loadExtendedCard(ref, options, cliContext);
    },
  );
}
