import { createHash } from "node:crypto";
import { encodeTypedJson } from "./typed-json.ts";

const HASH_DIGITS = 32;

/**
 * Generates keys for calls. The key of a call consists of its kind, a hash of its input, and its number among the calls
 * with the same input. Two sequences with the same calls therefore have the same keys.
 */
export class CallKeyGenerator {
  readonly #counts = new Map<string, number>();

  /** Returns the key of the next call with this kind and input. */
  generate(kind: string, input: unknown): string {
    const hash = createHash("sha256").update(encodeTypedJson(input)).digest("hex").slice(0, HASH_DIGITS);
    const name = `${kind} ${hash}`;
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
