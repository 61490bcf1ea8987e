import { hash, randomBytes } from "node:crypto";

const PROCESS_SALT = randomBytes(32).toString("base64");

/**
 * Returns a digest of a secret that is valid only within this process. The random salt prevents timing
 * attacks on lookups by digest: an attacker who does not know the salt cannot choose the first bytes of a
 * digest.
 */
export function computeSaltedDigest(secret: string): string {
  return hash("sha256", PROCESS_SALT + secret, "base64");
}
