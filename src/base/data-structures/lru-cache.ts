import { SlotReuseMap } from "./slot-reuse-map.ts";

/**
 * A least recently used (LRU) cache with at most `max` entries. The cache has two generations. When the young
 * generation contains half of `max` entries, it replaces the old generation. Entries of the replaced
 * generation are dropped. An access to an entry of the old generation moves the entry to the young
 * generation.
 */
export class LruCache<V> {
  readonly #generationSize: number;
  // A generation reuses its tables, because the tables of a growing `Map` burden the garbage collector.
  #youngGeneration = new SlotReuseMap<V>();
  #oldGeneration = new SlotReuseMap<V>();

  constructor(max: number) {
    this.#generationSize = Math.ceil(max / 2);
  }

  get(key: string): V | undefined {
    const known = this.#youngGeneration.get(key);
    if (known !== undefined) return known;
    const old = this.#oldGeneration.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    this.#oldGeneration.delete(key);
    if (this.#youngGeneration.size >= this.#generationSize) {
      const dropped = this.#oldGeneration;
      dropped.clear();
      this.#oldGeneration = this.#youngGeneration;
      this.#youngGeneration = dropped;
    }
    this.#youngGeneration.set(key, value);
  }

  delete(key: string): void {
    this.#youngGeneration.delete(key);
    this.#oldGeneration.delete(key);
  }

  /** Returns the cached values, oldest first. */
  listValues(): V[] {
    return [...this.#oldGeneration.values(), ...this.#youngGeneration.values()];
  }
}
