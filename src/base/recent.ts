/**
 * A map of at most `max` entries that forgets those which were used longest ago. It has two generations: when the
 * younger one is half of all, it becomes the older one, and what nobody has used since is gone. So a use costs a
 * look-up and, once per generation, a move.
 */
export class Recent<V> {
  readonly #half: number;
  #younger = new Map<string, V>();
  #older = new Map<string, V>();

  constructor(max: number) {
    this.#half = Math.ceil(max / 2);
  }

  get(key: string): V | undefined {
    const known = this.#younger.get(key);
    if (known !== undefined) return known;
    const old = this.#older.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    this.#older.delete(key);
    if (this.#younger.size >= this.#half) {
      this.#older = this.#younger;
      this.#younger = new Map();
    }
    this.#younger.set(key, value);
  }

  delete(key: string): void {
    this.#younger.delete(key);
    this.#older.delete(key);
  }

  /** Oldest first. */
  all(): V[] {
    return [...this.#older.values(), ...this.#younger.values()];
  }
}
