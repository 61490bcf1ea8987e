import { Command } from "commander";
import { openCard } from "./card-target.ts";
import { cardCommand } from "./command.ts";
import type { Context } from "./context.ts";
import type { ClientOptions } from "./options.ts";

interface Options extends ClientOptions {
  validate?: boolean;
  extended?: boolean;
}

export function cardGetCommand(context: Context): Command {
  const command = new Command("get")
    .option("--validate", "also check it against A2A 1.0, and fail when it is not like that")
    .option("--extended", "the one that the agent shows to those who have authenticated");
  return cardCommand<Options>(
    command,
    context,
    async ({ card, served, options, output }) => {
      if (options.validate) (await import("./card-validate.ts")).checkServed(served);
      output.card(card);
    },
    async (ref, options, world) => {
      if (!options.extended) return openCard(ref, options, world);
      const { openExtendedCard } = await import("./target.ts");
      return openExtendedCard(ref, options, world);
    },
  );
}
