import { Command } from "commander";
import { cardCommand } from "./command.ts";
import type { Context } from "./context.ts";
import type { ClientOptions } from "./options.ts";

export function cardGetCommand(context: Context): Command {
  const command = new Command("get");
  return cardCommand<ClientOptions>(command, context, async ({ card, output }) => {
    output.card(card);
  });
}
