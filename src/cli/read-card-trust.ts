import { readFile } from "node:fs/promises";
import type { CardTrustOptions } from "../client/index.ts";
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
