import { createSeededRandom } from "../../src/cards/roles/models/faulty-model.ts";

/** Draws pseudorandom values, which depend only on the seed and on the order of the draws. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = createSeededRandom(seed);
    // The first numbers of adjacent seeds are similar.
    for (let skipped = 0; skipped < 3; skipped++) this.#next();
  }

  /** Returns a number from `min` (inclusive) to `max` (exclusive). */
  between(min: number, max: number): number {
    return min + (max - min) * this.#next();
  }

  /** Returns an integer from 0 to `count - 1`. */
  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  isTrue(probability: number): boolean {
    return this.#next() < probability;
  }

  pick<const T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] as T;
  }
}

/** Combines numbers to the seed of an independent sequence. */
export function mixSeed(...parts: readonly number[]): number {
  let mixed = 0x9e3779b9;
  for (const part of parts) {
    mixed = Math.imul(mixed ^ part, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) ^ (mixed >>> 16);
  }
  return mixed >>> 0;
}
