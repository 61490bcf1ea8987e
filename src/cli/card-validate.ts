import { Command } from "commander";
import * as v1 from "../wire/v1/index.ts";
import { defineAgentCardCommand } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";
import { CliError } from "./cli-error.ts";

export function createCardValidateCommand(context: CliContext): Command {
  const command = new Command("validate");
  return defineAgentCardCommand<ClientOptions>(command, context, ({ servedJson, output }) => {
    assertValidCardJson(servedJson);
    output.writeResult({ valid: true }, { Valid: "yes" });
  });
}

/**
 * Throws a `CliError` if an agent card violates the specification. `served` is the JSON of the agent card
 * exactly as the server sent it.
 */
export function assertValidCardJson(served: unknown): void {
  const violations = v1.validateAgentCard(served, "strict");
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `\n  ${field} ${description}`).join("");
  throw new CliError("A2ACLI_ERR_CARD_INVALID", `The card violates A2A 1.0:${list}`);
}
