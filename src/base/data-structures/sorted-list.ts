/** Length at which a chunk is split in two. An insertion moves at most this number of items. */
const MAX_CHUNK_LENGTH = 512;

/**
 * A list of items that is always sorted. `Position` contains the members that `compare` compares. No two items
 * have the same position, and the position of an item in the list never changes. To add, remove, or find an item
 * takes a binary search and at most 512 moves, and is fastest at the end of the list.
 */
export class SortedList<Position, Item extends Position> {
  readonly #compare: (a: Position, b: Position) => number;
  /** Consecutive parts of the list. No chunk is empty. */
  readonly #chunks: Item[][] = [];
  #size = 0;

  constructor(compare: (a: Position, b: Position) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    this.#size++;
    const at = Math.min(this.#findChunk(item), this.#chunks.length - 1);
    const chunk = this.#chunks[at];
    if (!chunk) {
      this.#chunks.push([item]);
      return;
    }
    const offset = this.#findOffset(chunk, item);
    // A list that only grows at its end keeps full chunks.
    if (offset === MAX_CHUNK_LENGTH) {
      this.#chunks.push([item]);
      return;
    }
    chunk.splice(offset, 0, item);
    if (chunk.length > MAX_CHUNK_LENGTH) this.#chunks.splice(at + 1, 0, chunk.splice(MAX_CHUNK_LENGTH / 2));
  }

  remove(item: Item): void {
    const at = this.#findChunk(item);
    const chunk = this.#chunks[at];
    if (!chunk) return;
    const offset = this.#findOffset(chunk, item);
    if (chunk[offset] !== item) return;
    chunk.splice(offset, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    this.#size--;
  }

  /** Returns the number of items before `position`. */
  countBefore(position: Position): number {
    const at = this.#findChunk(position);
    let count = 0;
    for (const chunk of this.#chunks.slice(0, at)) count += chunk.length;
    const chunk = this.#chunks[at];
    return chunk ? count + this.#findOffset(chunk, position) : count;
  }

  /** Yields the items in descending order. With `before`, begins with the last item before that position. */
  *valuesDescending(before?: Position): Generator<Item, void, undefined> {
    const start = before === undefined ? this.#chunks.length - 1 : this.#findChunk(before);
    for (let at = Math.min(start, this.#chunks.length - 1); at >= 0; at--) {
      const chunk = this.#chunks[at] as Item[];
      let offset = before !== undefined && at === start ? this.#findOffset(chunk, before) : chunk.length;
      while (offset > 0) yield chunk[--offset] as Item;
    }
  }

  /** Finds the first chunk whose last item is not before `position`. */
  #findChunk(position: Position): number {
    return findFirst(this.#chunks, (chunk) => this.#compare(chunk.at(-1) as Item, position) >= 0);
  }

  /** Finds the first item of a chunk that is not before `position`. */
  #findOffset(chunk: readonly Item[], position: Position): number {
    return findFirst(chunk, (item) => this.#compare(item, position) >= 0);
  }
}

/** Returns the first index whose value matches, by binary search. All values after a match must also match. */
function findFirst<T>(values: readonly T[], matches: (value: T) => boolean): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (matches(values[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
