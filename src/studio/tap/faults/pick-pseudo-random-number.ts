/** Returns a number from 0 up to 1 that depends only on the seed and the index (the algorithm is mulberry32). */
export function pickPseudoRandomNumber(seed: number, index: number): number {
  let state = (seed + Math.imul(index, 0x6d2b79f5)) | 0;
  state = Math.imul(state ^ (state >>> 15), state | 1);
  state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
  return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
}
