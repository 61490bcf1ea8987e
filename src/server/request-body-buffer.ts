import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import { createPayloadTooLargeError } from "./request-body.ts";

const BLOCK_BYTES = 64 * 1024;
/** Size of the chunks that the buffer keeps. Copying them would double the garbage of a large body. */
const MIN_KEPT_CHUNK_BYTES = BLOCK_BYTES / 2;

/**
 * Collects the chunks of a request body. The buffer copies small chunks into blocks, because each chunk of a client that
 * sends single bytes would otherwise need a separate object.
 */
export class RequestBodyBuffer {
  readonly #maxBytes: number;
  readonly #account: ByteAccount | undefined;
  #firstChunk: Uint8Array | undefined;
  readonly #finishedParts: Uint8Array[] = [];
  #block: Uint8Array | undefined;
  #blockLength = 0;
  #size = 0;

  /** The buffer reserves the bytes that it contains in `account`. */
  constructor(maxBytes: number, account: ByteAccount | undefined) {
    this.#maxBytes = maxBytes;
    this.#account = account;
  }

  /**
   * Adds a chunk. Throws PAYLOAD_TOO_LARGE, or RESOURCE_EXHAUSTED if the holder's share is used up. A chunk that is the
   * whole body is not counted, because it does not wait for further chunks.
   */
  add(chunk: Uint8Array, isWholeBody = false): void {
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) throw createPayloadTooLargeError(this.#maxBytes);
    if (!isWholeBody) this.#account?.reserveBodyBytes(chunk.length);
    if (this.#size === chunk.length) {
      this.#firstChunk = chunk;
      return;
    }
    if (this.#firstChunk) {
      const first = this.#firstChunk;
      this.#firstChunk = undefined;
      this.#append(first);
    }
    this.#append(chunk);
  }

  toBytes(): Uint8Array {
    if (this.#firstChunk) return this.#firstChunk;
    const block = this.#block?.subarray(0, this.#blockLength);
    const parts = block ? [...this.#finishedParts, block] : this.#finishedParts;
    const bytes = new Uint8Array(this.#size);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  /** Drops the body, and returns its bytes to the account. */
  release(): void {
    this.#firstChunk = this.#block = undefined;
    this.#finishedParts.length = 0;
    this.#account?.releaseBodyBytes();
  }

  #append(chunk: Uint8Array): void {
    if (chunk.length < MIN_KEPT_CHUNK_BYTES) return this.#copy(chunk);
    // A copy frees the unused rest of the block.
    if (this.#block) this.#finishedParts.push(this.#block.slice(0, this.#blockLength));
    this.#block = undefined;
    this.#blockLength = 0;
    this.#finishedParts.push(chunk);
  }

  #copy(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0) {
      this.#block ??= new Uint8Array(BLOCK_BYTES);
      const part = rest.subarray(0, BLOCK_BYTES - this.#blockLength);
      this.#block.set(part, this.#blockLength);
      this.#blockLength += part.length;
      rest = rest.subarray(part.length);
      if (this.#blockLength < BLOCK_BYTES) continue;
      this.#finishedParts.push(this.#block);
      this.#block = undefined;
      this.#blockLength = 0;
    }
  }
}
