import { Command } from "commander";
import { A2AError, isObject } from "../protocol/index.ts";
import { type AgentCardWithServedJson, loadAgentCard } from "./agent-card-loader.ts";
import { defineAgentCommand } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";
import {
  addCardTrustOptions,
  createCardVerifierFromOptions,
  type CardTrustFlags,
} from "./read-card-trust.ts";

interface CardGetOptions extends ClientOptions, CardTrustFlags {
  validate?: boolean;
  extended?: boolean;
}

export function createCardGetCommand(context: CliContext): Command {
  const command = addCardTrustOptions(
    new Command("get")
      .option("--validate", "also check the card against A2A 1.0, and fail if it is invalid")
      .option("--extended", "get the extended card, which requires authentication"),
  );
  return defineAgentCommand<CardGetOptions, AgentCardWithServedJson>(
    command,
    "",
    context,
    async (ref, options, cliContext) => {
      if (!options.extended) return loadAgentCard(ref, options, cliContext);
      const { loadExtendedCard } = await import("./agent-connection.ts");
      return loadExtendedCard(ref, options, cliContext);
    },
    async ({ card, servedJson, options, output }) => {
      if (options.validate) (await import("./card-validate.ts")).assertValidCardJson(servedJson);
      output.writeCard(card, await describeSignature(servedJson, options));
    },
  );
}

/** Describes whether a trusted key signed the card (a2a-cli SPEC §10.1). */
async function describeSignature(servedJson: unknown, options: CardGetOptions): Promise<string> {
  const signatures = isObject(servedJson) ? servedJson["signatures"] : undefined;
  if (!Array.isArray(signatures) || signatures.length === 0) return "absent";
  // The client decodes the extended card, and the signature covers the JSON that the server sent.
  if (options.extended) return "unverifiable, because the signatures of extended cards are not checked";
  const verify = await createCardVerifierFromOptions(options);
  if (!verify) return "unverifiable without a trusted key; pass --key or --jwks";
  try {
    const { kid, alg } = await verify(servedJson);
    return `verified, signed by ${kid} (${alg})`;
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return `unverifiable: ${error.message}`;
  }
}
