import { hash, randomBytes } from "node:crypto";

const PROCESS_SALT = randomBytes(32).toString("base64");

/**
 * Returns a digest of a secret with a random salt, which is the same for all secrets in this process. The
 * salt prevents timing attacks on lookups by digest, because an attacker without the salt cannot choose the
 * first bytes of a digest.
 */
export function computeSaltedDigest(secret: string): string {
  return hash("sha256", PROCESS_SALT + secret, "base64");
}
