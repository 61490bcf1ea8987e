/** Length below which the queue never drops its gaps. */
const MIN_COMPACTED_LENGTH = 64;

/**
 * A queue of items in the order of their numbers. Each item can be removed by its number. A removed item leaves a
 * gap, and the queue drops all gaps once half of its positions are gaps.
 */
export class OrderedQueue<T> {
  #numbers: number[] = [];
  #items: (T | undefined)[] = [];
  /** Position before which the queue contains only gaps. */
  #start = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Appends an item. `number` must be greater than the numbers of all earlier items. */
  push(number: number, item: T): void {
    this.#numbers.push(number);
    this.#items.push(item);
    this.#size++;
  }

  /** Inserts an item at the position of its number. The item replaces an item with the same number. */
  insert(number: number, item: T): void {
    const at = this.#findPosition(number);
    const hasPosition = this.#numbers[at] === number;
    if (!hasPosition || this.#items[at] === undefined) this.#size++;
    this.#numbers.splice(at, hasPosition ? 1 : 0, number);
    this.#items.splice(at, hasPosition ? 1 : 0, item);
    this.#start = Math.min(this.#start, at);
  }

  findFirst(): T | undefined {
    return this.#items[this.#start];
  }

  remove(number: number): void {
    const at = this.#findPosition(number);
    if (this.#numbers[at] !== number || this.#items[at] === undefined) return;
    this.#items[at] = undefined;
    this.#size--;
    while (this.#start < this.#items.length && this.#items[this.#start] === undefined) this.#start++;
    if (this.#items.length > MIN_COMPACTED_LENGTH && this.#size < this.#items.length / 2) this.#dropGaps();
  }

  /** Yields the items with numbers greater than `number`, in order. */
  *valuesAfter(number: number): Generator<T, void, undefined> {
    for (let at = Math.max(this.#start, this.#findPosition(number + 1)); at < this.#items.length; at++) {
      const item = this.#items[at];
      if (item !== undefined) yield item;
    }
  }

  #dropGaps(): void {
    const isKept = (_: unknown, at: number): boolean => this.#items[at] !== undefined;
    this.#numbers = this.#numbers.filter(isKept);
    this.#items = this.#items.filter(isKept);
    this.#start = 0;
  }

  /** Finds the first position whose number is at least `number`, by binary search. */
  #findPosition(number: number): number {
    let low = 0;
    let high = this.#numbers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
