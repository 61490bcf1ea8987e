/** Returns pseudorandom numbers from 0 (inclusive) to 1 (exclusive). */
export type RandomSource = () => number;

/** Returns a random integer from 0 (inclusive) to `count` (exclusive). */
export function drawInteger(random: RandomSource, count: number): number {
  return Math.floor(random() * count);
}

/** Returns a random element. Throws if the list is empty. */
export function drawElement<Value>(random: RandomSource, values: readonly Value[]): Value {
  if (values.length === 0) throw new Error("the list has no elements to draw from");
  return values[drawInteger(random, values.length)] as Value;
}
