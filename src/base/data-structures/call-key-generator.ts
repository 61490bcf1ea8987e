import { computeSha256Hex } from "./sha-256.ts";
import { encodeTypedJson } from "./typed-json.ts";

const HASH_DIGITS = 32;

/** Numbers of the calls with one kind and input. */
interface CallNumbers {
  last: number;
  /** Numbers of failed calls, which later calls receive. */
  readonly released: Set<number>;
}

/**
 * Generates keys for calls. The key of a call consists of its kind, a hash of its input, and its number among the calls
 * with the same input. Two sequences with the same calls therefore have the same keys.
 */
export class CallKeyGenerator {
  readonly #numbersByName = new Map<string, CallNumbers>();

  /** Returns the key of the next call with this kind and input. */
  generate(kind: string, input: unknown): string {
    const name = `${kind} ${computeSha256Hex(encodeTypedJson(input)).slice(0, HASH_DIGITS)}`;
    const numbers = this.#numbersByName.get(name) ?? { last: 0, released: new Set() };
    this.#numbersByName.set(name, numbers);
    if (numbers.released.size === 0) return `${name} ${++numbers.last}`;
    const number = Math.min(...numbers.released);
    numbers.released.delete(number);
    return `${name} ${number}`;
  }

  /** Makes the number of a failed call available to the next call with the same input. */
  release(key: string): void {
    const at = key.lastIndexOf(" ");
    this.#numbersByName.get(key.slice(0, at))?.released.add(Number(key.slice(at + 1)));
  }
}
