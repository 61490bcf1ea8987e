/** Where a thing lies in its bag. */
export interface Bagged {
  /** Kept by the bag; -1 when the thing is in none. */
  slot: number;
}

/** An unordered collection of things that come and go quickly; like `SlotMap`, it leaves no old tables behind. */
export class Bag<T extends Bagged> {
  readonly #things: T[] = [];

  get size(): number {
    return this.#things.length;
  }

  add(thing: T): void {
    if (thing.slot >= 0) return;
    thing.slot = this.#things.push(thing) - 1;
  }

  delete(thing: T): void {
    if (this.#things[thing.slot] !== thing) return;
    const last = this.#things.pop();
    if (last && last !== thing) {
      this.#things[thing.slot] = last;
      last.slot = thing.slot;
    }
    thing.slot = -1;
  }

  /** A copy, so that things may go while one looks at them. */
  all(): T[] {
    return this.#things.slice();
  }
}
