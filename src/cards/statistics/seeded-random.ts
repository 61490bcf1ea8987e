/** Function that returns pseudorandom numbers from 0 (inclusive) to 1 (exclusive). */
type RandomGenerator = () => number;

/**
 * Creates a random number generator that returns the same numbers for the same seed on every platform
 * (mulberry32).
 * The random numbers are predictable, so use them for resampling and never for secrets.
 */
export function createSeededRandom(seed: number): RandomGenerator {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
