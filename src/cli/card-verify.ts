import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { createCardVerifier, type CardTrust, type CardVerifier } from "../client/index.ts";
import { A2AError } from "../protocol/index.ts";
import { cardCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { oneMore, type ClientOptions } from "./options.ts";
import { Problem } from "./problem.ts";

interface Options extends ClientOptions {
  key?: string[];
  jwks?: string[];
  strict?: boolean;
}

type Key = Extract<CardTrust["keys"], readonly unknown[]>[number];

export function cardVerifyCommand(context: Context): Command {
  const command = new Command("verify")
    .option("--key <file>", "trust the public key in this file, or keys: JWK or JWKS; repeatable", oneMore)
    .option("--jwks <url>", "trust the keys there; repeatable", oneMore)
    .option("--strict", "take no signature over the SDKs' form of cards");
  return cardCommand<Options>(command, context, async ({ served, options, output }) => {
    const verify = await verifierOf(options);
    try {
      const signature = await verify(served);
      const { kid, alg, form } = signature;
      output.facts(signature, { "Signed by": `${kid} (${alg})`, Form: form });
    } catch (error) {
      if (!(error instanceof A2AError) || error.reason !== "INVALID_AGENT_RESPONSE") throw error;
      throw new Problem("A2ACLI_ERR_CARD_INVALID", error.message, undefined, error);
    }
  });
}

async function verifierOf({ key: files = [], jwks = [], strict }: Options): Promise<CardVerifier> {
  if (files.length + jwks.length === 0) {
    throw new Problem("A2ACLI_ERR_USAGE", "Say whose signature counts: --key or --jwks.");
  }
  const keys = (await Promise.all(files.map(readKeys))).flat();
  const trusted = keys.length > 0 ? { jwks, keys } : { jwks };
  try {
    return createCardVerifier(strict ? { ...trusted, form: "specification" } : trusted);
  } catch (error) {
    throw new Problem("A2ACLI_ERR_USAGE", (error as Error).message, undefined, error);
  }
}

async function readKeys(file: string): Promise<readonly Key[]> {
  try {
    const json = JSON.parse(await readFile(file, "utf8")) as Key | { keys: Key[] };
    return "keys" in json && Array.isArray(json.keys) ? json.keys : [json as Key];
  } catch (cause) {
    const message = `${file} can not be read as a JWK ({"kty": …}) or a JWKS ({"keys": […]}).`;
    throw new Problem("A2ACLI_ERR_USAGE", message, undefined, cause);
  }
}
