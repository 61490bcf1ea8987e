import { createSeededRandom } from "../../index.ts";

/**
 * Creates a random number generator from a seed and a key. The same seed and key always produce the same
 * numbers, regardless of the order of the problems.
 */
export function createKeyedRandom(seed: number, ...key: readonly unknown[]): () => number {
  // 32-bit FNV-1a hash.
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify([seed, ...key]))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  const random = createSeededRandom(hash);
  // Similar seeds produce similar first numbers, so the first number is discarded.
  random();
  return random;
}
