/**
 * A property of objects that only its owner can read. Copies and JSON texts of the objects do not contain the property.
 *
 * A `WeakMap` has the same purpose, but once it is in V8's old generation, every minor garbage collection keeps its
 * values, with all objects that they reference.
 */
export class HiddenProperty<V> {
  readonly #key = Symbol("hidden");

  get(owner: object): V | undefined {
    return Reflect.get(owner, this.#key) as V | undefined;
  }

  /** Sets the property. A frozen object does not get the property. */
  set(owner: object, value: V): void {
    Reflect.defineProperty(owner, this.#key, { value, configurable: true });
  }
}
