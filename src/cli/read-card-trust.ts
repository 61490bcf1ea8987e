import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { createCardVerifier, type CardTrustOptions, type CardVerifier } from "../client/index.ts";
import { appendValue } from "./client-options.ts";
import { createUsageError } from "./cli-error.ts";

type TrustedKey = Extract<CardTrustOptions["keys"], readonly unknown[]>[number];

/** Trusted keys of a command. */
interface CardTrustSources {
  /** Files with public keys (JWK or JWKS). */
  readonly keyFiles?: readonly string[] | undefined;
  /** URLs of key sets. */
  readonly jwksUrls?: readonly string[] | undefined;
}

/** Reads the keys that are trusted to sign agent cards. Resolves with `undefined` if there are none. */
export async function readCardTrust({
  keyFiles = [],
  jwksUrls = [],
}: CardTrustSources): Promise<CardTrustOptions | undefined> {
  if (keyFiles.length + jwksUrls.length === 0) return undefined;
  const keys = (await Promise.all(keyFiles.map(readPublicKeys))).flat();
  return keys.length > 0 ? { jwksUrls, keys } : { jwksUrls };
}

async function readPublicKeys(file: string): Promise<readonly TrustedKey[]> {
  try {
    const json = JSON.parse(await readFile(file, "utf8")) as TrustedKey | { keys: TrustedKey[] };
    return "keys" in json && Array.isArray(json.keys) ? json.keys : [json as TrustedKey];
  } catch (cause) {
    const message = `${file} cannot be read as a JWK ({"kty": …}) or a JWKS ({"keys": […]}).`;
    throw createUsageError(message, undefined, cause);
  }
}

/** Options of a command that verifies signatures of agent cards. */
export interface CardTrustFlags {
  key?: string[];
  jwks?: string[];
  strict?: boolean;
}

export function addCardTrustOptions(command: Command): Command {
  return command
    .option("--key <file>", "trust the public keys in this file (JWK or JWKS); repeatable", appendValue)
    .option("--jwks <url>", "trust the keys at this URL; repeatable", appendValue)
    .option("--strict", "reject signatures over the SDKs' canonical form of cards");
}

/** Creates a verifier that trusts the keys of the options. Resolves with `undefined` if there are none. */
export async function createCardVerifierFromOptions({
  key,
  jwks,
  strict,
}: CardTrustFlags): Promise<CardVerifier | undefined> {
  const trusted = await readCardTrust({ keyFiles: key, jwksUrls: jwks });
  if (!trusted) return undefined;
  try {
    return createCardVerifier(strict ? { ...trusted, canonicalForm: "specification" } : trusted);
  } catch (error) {
    throw createUsageError((error as Error).message, undefined, error);
  }
}
