import { Command } from "commander";
import { v1 } from "../wire/index.ts";
import { cardCommand } from "./command.ts";
import type { Context } from "./context.ts";
import type { ClientOptions } from "./options.ts";
import { Problem } from "./problem.ts";

export function cardValidateCommand(context: Context): Command {
  const command = new Command("validate");
  return cardCommand<ClientOptions>(command, context, ({ served, output }) => {
    checkServed(served);
    output.facts({ valid: true }, { Valid: "yes" });
  });
}

/** Throws for a card, given as it was served, that is not what the specification says. */
export function checkServed(served: unknown): void {
  const violations = v1.checkCard(served, "strict");
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `\n  ${field} ${description}`).join("");
  throw new Problem("A2ACLI_ERR_CARD_INVALID", `The card is not what A2A 1.0 wants:${list}`);
}
