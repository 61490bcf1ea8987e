import { Command } from "commander";
import { createCardVerifier, type CardVerifier } from "../client/index.ts";
import { A2AError } from "../protocol/index.ts";
import { defineAgentCardCommand } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import { appendValue, type ClientOptions } from "./client-options.ts";
import { CliError, createUsageError } from "./cli-error.ts";
import { readCardTrust } from "./read-card-trust.ts";

interface CardVerifyOptions extends ClientOptions {
  key?: string[];
  jwks?: string[];
  strict?: boolean;
}

export function createCardVerifyCommand(context: CliContext): Command {
  const command = new Command("verify")
    .option("--key <file>", "trust the public keys in this file (JWK or JWKS); repeatable", appendValue)
    .option("--jwks <url>", "trust the keys at this URL; repeatable", appendValue)
    .option("--strict", "reject signatures over the SDKs' canonical form of cards");
  return defineAgentCardCommand<CardVerifyOptions>(
    command,
    context,
    async ({ servedJson, options, output }) => {
      const verify = await createCardVerifierFromOptions(options);
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

async function createCardVerifierFromOptions({
  key,
  jwks,
  strict,
}: CardVerifyOptions): Promise<CardVerifier> {
  const trusted = await readCardTrust({ keyFiles: key, jwksUrls: jwks });
  if (!trusted) throw createUsageError("No trusted key is given. Pass --key or --jwks.");
  try {
    return createCardVerifier(strict ? { ...trusted, canonicalForm: "specification" } : trusted);
  } catch (error) {
    throw createUsageError((error as Error).message, undefined, error);
  }
}
