/**
 * A map of at most `max` entries that forgets those which were used longest ago. It has two generations: when the
 * younger one is half of all, it becomes the older one, and what nobody has used since is gone. So a use costs a
 * look-up and, once per generation, a move.
 */
export class LruCache<V> {
  readonly #generationSize: number;
  #youngGeneration = new Map<string, V>();
  #oldGeneration = new Map<string, V>();

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
      this.#oldGeneration = this.#youngGeneration;
      this.#youngGeneration = new Map();
    }
    this.#youngGeneration.set(key, value);
  }

  delete(key: string): void {
    this.#youngGeneration.delete(key);
    this.#oldGeneration.delete(key);
  }

  /** Oldest first. */
  listValues(): V[] {
    return [...this.#oldGeneration.values(), ...this.#youngGeneration.values()];
  }
}
