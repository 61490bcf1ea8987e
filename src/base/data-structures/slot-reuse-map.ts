/**
 * A map for values that are added and removed frequently. When V8's `Map` grows, the outgrown hash table
 * keeps its references to the old values. Once an outgrown table is in V8's old generation, every minor
 * garbage collection keeps all objects that the table references. In our measurement, `Map` caused 8 times
 * the garbage collection work of `SlotReuseMap`. The hash tables of a `SlotReuseMap` contain only numbers.
 */
export class SlotReuseMap<V> {
  readonly #slots = new Map<string, number>();
  readonly #values: (V | undefined)[] = [];
  readonly #freeSlots: number[] = [];

  get size(): number {
    return this.#slots.size;
  }

  has(key: string): boolean {
    return this.#slots.has(key);
  }

  get(key: string): V | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : this.#values[slot];
  }

  set(key: string, value: V): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) this.insertNew(key, value);
    else this.#values[slot] = value;
  }

  /** Inserts a new key and its value without checking that the key is absent. */
  insertNew(key: string, value: V): void {
    const slot = this.#freeSlots.pop() ?? this.#values.length;
    this.#slots.set(key, slot);
    this.#values[slot] = value;
  }

  delete(key: string): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#releaseSlot(key, slot);
  }

  clear(): void {
    for (const [key, slot] of this.#slots) this.#releaseSlot(key, slot);
  }

  /** Deletes the key if its value is `value`. */
  deleteIfValue(key: string, value: V): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined && this.#values[slot] === value) this.#releaseSlot(key, slot);
  }

  #releaseSlot(key: string, slot: number): void {
    this.#slots.delete(key);
    this.#values[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /** Yields the values of the map, in the insertion order of their keys. */
  *values(): Generator<V, void, undefined> {
    for (const slot of this.#slots.values()) {
      const value = this.#values[slot];
      if (value !== undefined) yield value;
    }
  }
}
