import { A2AError } from "../../protocol/index.ts";
import { toBuffer } from "./field-codecs.ts";

/** Size of the prefix of a gRPC message: a flag for compression, and the length of the message. */
const PREFIX_BYTES = 5;
/** Number of chunks of any size that a message can have. Each chunk costs the server several microseconds. */
const FREE_CHUNKS = 1_000;
/** Minimum average size of further chunks, in bytes. Real clients send chunks of several kilobytes. */
const MIN_AVERAGE_CHUNK_BYTES = 64;

/**
 * Collects the single request message of a gRPC call from the chunks of an HTTP/2 stream. The methods throw `A2AError`
 * if the chunks are not exactly one uncompressed message. The decoder refuses compressed messages, because a small
 * message can decompress to gigabytes.
 */
export class RequestMessageDecoder {
  readonly #maxBytes: number;
  readonly #reserveBytes: (bytes: number) => void;
  readonly #prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  #prefixBytes = 0;
  #message: Buffer | undefined;
  #messageBytes = 0;
  #chunks = 0;

  /**
   * `reserveBytes` is called with the size of the message before the decoder stores any part of the message. The
   * function throws to refuse the message.
   */
  constructor(maxBytes: number, reserveBytes: (bytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#reserveBytes = reserveBytes;
  }

  /** Adds the next chunk of the stream. */
  push(chunk: Buffer): void {
    if (++this.#chunks > FREE_CHUNKS + this.#messageBytes / MIN_AVERAGE_CHUNK_BYTES)
      throw new A2AError(
        "INVALID_REQUEST",
        "The request message arrives in tiny frames; send larger frames.",
      );
    const prefixPart = chunk.copy(this.#prefix, this.#prefixBytes);
    this.#prefixBytes += prefixPart;
    if (this.#prefixBytes < PREFIX_BYTES) return;
    const rest = chunk.subarray(prefixPart);
    if (!this.#message) {
      const size = this.#readMessageSize();
      this.#reserveBytes(size);
      if (rest.length === size) {
        this.#message = rest;
        this.#messageBytes = size;
        return;
      }
      // One buffer of the announced size: a list of small chunks would need a multiple of their size.
      this.#message = toBuffer(Buffer.allocUnsafeSlow(size));
    }
    if (this.#messageBytes + rest.length > this.#message.length)
      throw new A2AError("INVALID_REQUEST", "The call has a second request message; send one message.");
    rest.copy(this.#message, this.#messageBytes);
    this.#messageBytes += rest.length;
  }

  /** Returns the message after the last chunk. */
  finish(): Buffer {
    if (this.#message && this.#messageBytes === this.#message.length) return this.#message;
    const received = this.#prefixBytes === 0 ? "no request message" : "an incomplete request message";
    throw new A2AError("INVALID_REQUEST", `The call has ${received}; send one message.`);
  }

  #readMessageSize(): number {
    if (this.#prefix[0] !== 0) {
      const text =
        "The request message is compressed, which this server does not support; send it uncompressed.";
      throw new A2AError("METHOD_NOT_FOUND", text);
    }
    const size = this.#prefix.readUInt32BE(1);
    if (size > this.#maxBytes) {
      const limit = this.#maxBytes.toLocaleString("en");
      const text = `The request message exceeds ${limit} bytes; send large files by URL.`;
      throw new A2AError("PAYLOAD_TOO_LARGE", text);
    }
    return size;
  }
}
