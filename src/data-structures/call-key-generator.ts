import { encodeTypedJson } from "./typed-json.ts";

/**
 * Generates keys for calls. The key of a call consists of its kind, a hash of its input, and its number among the calls
 * with the same input. Two sequences with the same calls therefore have the same keys.
 */
export class CallKeyGenerator {
  readonly #hash: (text: string) => string;
  readonly #counts = new Map<string, number>();

  /** `hash` must return different text for different inputs, such as a SHA-256 digest. */
  constructor(hash: (text: string) => string) {
    this.#hash = hash;
  }

  /** Returns the key of the next call with this kind and input. */
  generate(kind: string, input: unknown): string {
    const name = `${kind} ${this.#hash(encodeTypedJson(input))}`;
    const number = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, number);
    return `${name} ${number}`;
  }

  /** Makes the number of a failed call available to the next call with the same input. */
  release(key: string): void {
    const name = key.slice(0, key.lastIndexOf(" "));
    this.#counts.set(name, (this.#counts.get(name) ?? 1) - 1);
  }
}
