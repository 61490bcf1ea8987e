import { hash, randomBytes } from "node:crypto";

// This file is separate, so that schemes without stored secrets load neither `node:crypto` nor random values.
const PROCESS_SALT = randomBytes(32).toString("base64");

/**
 * Returns a salted digest of a secret. One random salt is used for all secrets in this process. Without the
 * salt, an attacker could choose the first bytes of a digest and use a timing attack on lookups by digest.
 */
export function computeSaltedDigest(secret: string): string {
  return hash("sha256", PROCESS_SALT + secret, "base64");
}
