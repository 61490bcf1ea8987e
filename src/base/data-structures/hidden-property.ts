/**
 * A property of objects that only the code with the `HiddenProperty` finds. Copies and JSON texts of the objects do not
 * contain the property.
 *
 * A `WeakMap` has the same purpose, but once it is in V8's old generation, every minor garbage collection keeps its
 * values, with all objects that they reference.
 */
export class HiddenProperty<V> {
  readonly #key = Symbol("hidden");

  get(target: object): V | undefined {
    return Reflect.get(target, this.#key) as V | undefined;
  }

  /** Sets the property. A frozen object does not get the property. */
  set(target: object, value: V): void {
    Reflect.defineProperty(target, this.#key, { value, configurable: true });
  }
}
