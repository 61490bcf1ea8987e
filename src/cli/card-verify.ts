import { Command } from "commander";
import { A2AError } from "../protocol/index.ts";
import { defineAgentCardCommand } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";
import { CliError, createUsageError } from "./cli-error.ts";
import {
  addCardTrustOptions,
  createCardVerifierFromOptions,
  type CardTrustFlags,
} from "./read-card-trust.ts";

export function createCardVerifyCommand(context: CliContext): Command {
  return defineAgentCardCommand<ClientOptions & CardTrustFlags>(
    addCardTrustOptions(new Command("verify")),
    context,
    async ({ servedJson, options, output }) => {
      const verify = await createCardVerifierFromOptions(options);
      if (!verify) throw createUsageError("No trusted key is given. Pass --key or --jwks.");
      try {
        const { canonicalForm, ...key } = await verify(servedJson);
        output.writeResult(
          { ...key, form: canonicalForm },
          { "Signed by": `${key.kid} (${key.alg})`, Form: canonicalForm },
        );
      } catch (error) {
        if (!(error instanceof A2AError) || error.reason !== "INVALID_AGENT_RESPONSE") throw error;
        throw new CliError("A2ACLI_ERR_CARD_INVALID", error.message, undefined, error);
      }
    },
  );
}
