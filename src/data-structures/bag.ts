/** An item of a `Bag`, which stores its own position in the bag. */
export interface BagItem {
  /** Position of the item in its bag, maintained by the bag. -1 means that the item is in no bag. */
  slot: number;
}

/**
 * An unordered collection for items that are added and removed frequently. Unlike `Map`, a `Bag` leaves no
 * outgrown hash tables in memory.
 */
export class Bag<T extends BagItem> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    if (item.slot >= 0) return;
    item.slot = this.#items.push(item) - 1;
  }

  delete(item: T): void {
    if (this.#items[item.slot] !== item) return;
    const last = this.#items.pop();
    if (last && last !== item) {
      this.#items[item.slot] = last;
      last.slot = item.slot;
    }
    item.slot = -1;
  }

  /** Returns a copy of the items, so that items can be removed during iteration. */
  toArray(): T[] {
    return this.#items.slice();
  }
}
