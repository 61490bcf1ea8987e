import { hash, timingSafeEqual } from "node:crypto";

/** Compares digests, which have the same length, so that the time does not depend on the texts. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"));
}
