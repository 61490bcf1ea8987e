/** Maximum length of a body in bytes that the tap copies for the record. Longer bodies are only counted. */
export const MAX_COPIED_BODY_BYTES: number = 2 ** 20;

/** Clients do not accept a card of this length either. */
export const CARD_TOO_LONG_MESSAGE: string = `The agent card is longer than ${MAX_COPIED_BODY_BYTES} bytes.`;

/** A copy of a body that passes through the tap, up to a maximum length. */
export class BoundedBodyCopy {
  #chunks: Buffer[] = [];
  #size = 0;

  /** Number of bytes of the body so far. */
  get size(): number {
    return this.#size;
  }

  /** Whether the body is longer than the maximum, so that `bytes` is empty. */
  get isTruncated(): boolean {
    return this.#size > MAX_COPIED_BODY_BYTES;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  add(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.isTruncated) this.#chunks = [];
    else this.#chunks.push(chunk);
  }
}
