/** Where a thing lies in its bag. */
export interface BagItem {
  /** Kept by the bag; -1 when the thing is in none. */
  slot: number;
}

/** An unordered collection of things that come and go quickly; like `SlotMap`, it leaves no old tables behind. */
export class Bag<T extends BagItem> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(thing: T): void {
    if (thing.slot >= 0) return;
    thing.slot = this.#items.push(thing) - 1;
  }

  delete(thing: T): void {
    if (this.#items[thing.slot] !== thing) return;
    const last = this.#items.pop();
    if (last && last !== thing) {
      this.#items[thing.slot] = last;
      last.slot = thing.slot;
    }
    thing.slot = -1;
  }

  /** A copy, so that things may go while one looks at them. */
  toArray(): T[] {
    return this.#items.slice();
  }
}
