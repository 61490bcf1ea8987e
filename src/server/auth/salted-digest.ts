import { hash, randomBytes } from "node:crypto";

const PROCESS_SALT = randomBytes(32).toString("base64");

/**
 * A digest that holds within this process only. How long a look-up by it takes says nothing about the secret: who does
 * not know the salt can not choose what the digest begins with.
 */
export function computeSaltedDigest(secret: string): string {
  return hash("sha256", PROCESS_SALT + secret, "base64");
}
