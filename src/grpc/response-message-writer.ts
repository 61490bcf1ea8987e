import { constants, type ServerHttp2Stream } from "node:http2";
import type { FairShareRefusal } from "../data-structures/index.ts";
import type { ResponseByteAccount } from "./response-byte-account.ts";

/** Size of the prefix of a gRPC message: a flag for compression, and the length of the message. */
const PREFIX_BYTES = 5;
/** Maximum number of bytes that a call passes to HTTP/2 at once, and that a client must read in `readMs`. */
const BATCH_BYTES = 64 * 1024;
/** A batch up to this size is copied to a single buffer, which is faster than several writes. */
const COPIED_BATCH_BYTES = 4 * 1024;

interface ResponseMessageWriterOptions {
  readonly stream: ServerHttp2Stream;
  /** Account of the messages that wait for the client. */
  readonly account: ResponseByteAccount;
  readonly holder: string;
  /** Time in milliseconds in which the client must read a batch. The writer cancels the call of a slower client. */
  readonly readMs: number;
}

/**
 * Writes the messages of a response as fast as the client reads them. The writer passes one batch at a time to HTTP/2.
 * The completion of each batch shows that the client reads.
 */
export class ResponseMessageWriter {
  readonly #stream: ServerHttp2Stream;
  readonly #account: ResponseByteAccount;
  readonly #holder: string;
  readonly #readMs: number;
  /** Messages that have not been written completely. */
  #messages: Uint8Array[] = [];
  /** Bytes of the first message that have been written. */
  #offset = 0;
  /** Messages whose last part is in the current batch. */
  #finishing: Uint8Array[] = [];
  #isWriting = false;
  #isEnding = false;
  #drained: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #readTimer: NodeJS.Timeout | undefined;

  constructor({ stream, account, holder, readMs }: ResponseMessageWriterOptions) {
    this.#stream = stream;
    this.#account = account;
    this.#holder = holder;
    this.#readMs = readMs;
    stream.once("close", () => this.#releaseAll());
  }

  /** Adds a message, or returns the reason why the holder cannot have more unread messages. */
  write(message: Uint8Array): FairShareRefusal | undefined {
    if (this.#stream.destroyed) return undefined;
    const refusal = this.#account.reserve(this.#holder, message);
    if (refusal !== undefined) return refusal;
    this.#messages.push(message);
    if (!this.#isWriting) this.#writeNextBatch();
    return undefined;
  }

  /** Returns a promise if messages wait for the client. The promise resolves when none waits. */
  waitUntilDrained(): Promise<void> | undefined {
    if (this.#messages.length === 0 || this.#stream.destroyed) return undefined;
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  /** Ends the stream after the last message. */
  end(): void {
    this.#isEnding = true;
    if (!this.#isWriting) this.#stream.end();
  }

  #writeNextBatch(): void {
    this.#isWriting = true;
    this.#readTimer = setTimeout(() => this.#stream.close(constants.NGHTTP2_CANCEL), this.#readMs);
    const parts = this.#takeBatch();
    const finish = (error?: Error | null): void => {
      if (!error) this.#finishBatch();
    };
    if (parts.length === 1 && parts[0]) return void this.#stream.write(parts[0], finish);
    this.#stream.cork();
    parts.forEach((part, at) => this.#stream.write(part, at === parts.length - 1 ? finish : undefined));
    this.#stream.uncork();
  }

  #takeBatch(): Uint8Array[] {
    const parts: Uint8Array[] = [];
    let size = 0;
    while (size < BATCH_BYTES) {
      const [message] = this.#messages;
      if (!message) break;
      if (this.#offset === 0) {
        parts.push(encodeMessagePrefix(message.length));
        size += PREFIX_BYTES;
      }
      const part = message.subarray(this.#offset, this.#offset + BATCH_BYTES - size);
      parts.push(part);
      size += part.length;
      this.#offset += part.length;
      if (this.#offset < message.length) break;
      this.#offset = 0;
      this.#messages.shift();
      this.#finishing.push(message);
    }
    return size <= COPIED_BATCH_BYTES ? [Buffer.concat(parts, size)] : parts;
  }

  #finishBatch(): void {
    clearTimeout(this.#readTimer);
    this.#isWriting = false;
    for (const message of this.#finishing) this.#account.release(message);
    this.#finishing = [];
    if (this.#messages.length > 0) return this.#writeNextBatch();
    this.#resolveDrained();
    if (this.#isEnding) this.#stream.end();
  }

  #releaseAll(): void {
    clearTimeout(this.#readTimer);
    for (const message of [...this.#finishing, ...this.#messages]) this.#account.release(message);
    this.#messages = [];
    this.#finishing = [];
    this.#resolveDrained();
  }

  #resolveDrained(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }
}

/** Encodes the prefix of an uncompressed message. */
function encodeMessagePrefix(length: number): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(length, 1);
  return prefix;
}
