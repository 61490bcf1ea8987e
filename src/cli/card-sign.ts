import { readFile } from "node:fs/promises";
import { Command } from "commander";
import * as v1 from "../wire/v1/index.ts";
import { signCard, type CardSigningOptions } from "../server/index.ts";
import { defineAgentCardCommand } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";
import { createUsageError } from "./cli-error.ts";

interface CardSignOptions extends ClientOptions {
  key: string;
  alg?: NonNullable<CardSigningOptions["alg"]>;
  kid?: string;
  jku?: string;
}

export function createCardSignCommand(context: CliContext): Command {
  const command = new Command("sign")
    .requiredOption("--key <file>", "the private key: a JWK, or PKCS #8 as PEM")
    .option("--alg <name>", "the algorithm for a PEM key, for example EdDSA or ES256")
    .option("--kid <name>", "the key id for verifiers (default: the id in the key, or its thumbprint)")
    .option("--jku <url>", "URL of the JWKS with the public key");
  return defineAgentCardCommand<CardSignOptions>(
    command,
    context,
    async ({ servedJson, options, output }) => {
      const { key, alg, kid, jku } = options;
      const privateKey = await readPrivateKey(key);
      const signOptions = {
        privateKey,
        ...(alg ? { alg } : {}),
        ...(kid ? { kid } : {}),
        ...(jku ? { jku } : {}),
      };
      try {
        output.writeJson(await signCard(v1.decodeCard(servedJson), signOptions));
      } catch (error) {
        throw createUsageError((error as Error).message, undefined, error);
      }
    },
  );
}

async function readPrivateKey(file: string): Promise<CardSigningOptions["privateKey"]> {
  try {
    const text = await readFile(file, "utf8");
    return text.trimStart().startsWith("-----BEGIN")
      ? text
      : (JSON.parse(text) as Exclude<CardSigningOptions["privateKey"], string>);
  } catch (cause) {
    const message = `${file} cannot be read as a private key; use a JWK, or PKCS #8 as PEM (openssl genpkey -algorithm ed25519).`;
    throw createUsageError(message, undefined, cause);
  }
}
