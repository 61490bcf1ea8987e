/**
 * A map for values that come and go quickly. V8's `Map` leaves its outgrown tables behind, each pointing at the next and
 * at every value that lived when it was left: once one of them is old, whole dead object graphs survive every minor
 * collection (measured: 8 × the garbage collection of this). Here those tables hold numbers only.
 */
export class SlotMap<V> {
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

  /** `set` for a key that is not there yet, which spares looking for it. */
  insertNew(key: string, value: V): void {
    const slot = this.#freeSlots.pop() ?? this.#values.length;
    this.#slots.set(key, slot);
    this.#values[slot] = value;
  }

  delete(key: string): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#releaseSlot(key, slot);
  }

  /** Deletes the key if that is its value. */
  deleteIfValue(key: string, value: V): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined && this.#values[slot] === value) this.#releaseSlot(key, slot);
  }

  #releaseSlot(key: string, slot: number): void {
    this.#slots.delete(key);
    this.#values[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /** In the order in which the keys came. */
  *values(): Generator<V, void, undefined> {
    for (const slot of this.#slots.values()) {
      const value = this.#values[slot];
      if (value !== undefined) yield value;
    }
  }
}
