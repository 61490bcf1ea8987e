import { Command } from "commander";
import { A2AError, isObject } from "../protocol/index.ts";
import * as v1 from "../wire/v1/index.ts";
import { type AgentCardWithServedJson, loadAgentCard } from "./agent-card-loader.ts";
import type { CliContext } from "./cli-context.ts";
import { CliError, createUsageError } from "./cli-error.ts";
import type { ClientOptions } from "./client-options.ts";
import { defineAgentCardCommand, defineAgentCommand } from "./define-agent-command.ts";
import {
  addCardTrustOptions,
  type CardTrustFlags,
  createCardVerifierFromOptions,
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
      if (options.validate) assertValidCardJson(servedJson);
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
