import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/**
 * Returns the SHA-256 digest of a text in UTF-8, as 64 hexadecimal digits. The function is synchronous, and needs no
 * module of Node.js.
 */
export function computeSha256Hex(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)));
}
