import { hash, randomBytes } from "node:crypto";
import { computeSha256Hex } from "../../base/data-structures/index.ts";

const PROCESS_SALT = randomBytes(32).toString("base64");

/**
 * Returns a salted digest of a secret. One random salt is used for all secrets in this process. Without the
 * salt, an attacker could choose the first bytes of a digest and use a timing attack on lookups by digest.
 */
export function computeSaltedDigest(secret: string): string {
  return hash("sha256", PROCESS_SALT + secret, "base64");
}

/** Compares digests, which have the same length, so that the time does not depend on the texts. */
export function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [computeSha256Hex(given), computeSha256Hex(expected)];
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
