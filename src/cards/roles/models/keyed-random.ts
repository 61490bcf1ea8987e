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

/**
 * Creates a random number generator that returns the same numbers for the same seed on every platform
 * (mulberry32).
 */
export function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
