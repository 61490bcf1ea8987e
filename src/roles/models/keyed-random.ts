import { createSeededRandom } from "../../cards/index.ts";

/**
 * Random numbers that hang on what they are for, and not on who asks first: the same seed and key have the same ones, in
 * whatever order the problems of a run come.
 */
export function createKeyedRandom(seed: number, ...key: readonly unknown[]): () => number {
  // FNV-1a, 32 bits.
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify([seed, ...key]))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  const random = createSeededRandom(hash);
  // Neighbouring seeds begin alike.
  random();
  return random;
}
