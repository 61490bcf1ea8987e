/** An item that stores its position in a `Bag`. */
export interface BagItem {
  /** Position of the item, maintained by the bag. The position is -1 when the item is in no bag. */
  slot: number;
}

/**
 * An unordered collection for items that are added and removed frequently. Like `SlotMap`, it avoids the old
 * hash tables that `Map` leaves behind.
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
