/** An item that a `SwapRemoveSet` can contain. */
export interface SwapRemoveSetItem {
  /** Position of the item in its set, or -1 if the item is in no set. Only the set changes the position. */
  slot: number;
}

/**
 * An unordered collection for items that are added and removed frequently. Unlike `Map`, the collection
 * leaves no outgrown hash tables in memory.
 */
export class SwapRemoveSet<T extends SwapRemoveSetItem> {
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

  /**
   * Returns a copy of the items, so that the caller can remove items from the set while iterating over the
   * copy.
   */
  toArray(): T[] {
    return this.#items.slice();
  }
}
