import { computeSha256Hex } from "./sha-256.ts";

/** Returns true if two secrets are equal. Compares their digests in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [computeSha256Hex(given), computeSha256Hex(expected)];
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
