import { constants, type ServerHttp2Stream } from "node:http2";

/** Size of the prefix of a gRPC message: a flag for compression, and the length of the message. */
const PREFIX_BYTES = 5;
/** Maximum number of bytes that a call passes to HTTP/2 at once, and that a client must read in time. */
const BATCH_BYTES = 64 * 1024;
/** A batch up to this size is copied to a single buffer, which is faster than several writes. */
const COPIED_BATCH_BYTES = 4 * 1024;

/**
 * Starts to watch a write that waits for the client. Calls `disconnect` if the client takes too long. The returned
 * function stops the watch.
 */
export type WatchWriteFunction = (disconnect: () => void) => () => void;

/**
 * Writes the messages of a response as fast as the client reads them. The writer passes one batch at a time to HTTP/2.
 * The completion of each batch shows that the client reads.
 */
export class ResponseMessageWriter {
  readonly #stream: ServerHttp2Stream;
  readonly #watchWrite: WatchWriteFunction;
  /** Messages that have not been written completely. */
  #messages: Uint8Array[] = [];
  /** Bytes of the first message that have been written. */
  #offset = 0;
  #unreadBytes = 0;
  #batchBytes = 0;
  #stopWatch: (() => void) | undefined;
  #isEnding = false;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(stream: ServerHttp2Stream, watchWrite: WatchWriteFunction) {
    this.#stream = stream;
    this.#watchWrite = watchWrite;
    stream.once("close", () => this.#dropMessages());
  }

  /** Number of bytes that HTTP/2 has not taken. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  write(message: Uint8Array): void {
    if (this.#stream.destroyed) return;
    this.#messages.push(message);
    this.#unreadBytes += PREFIX_BYTES + message.length;
    if (this.#batchBytes === 0) this.#writeNextBatch();
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
    if (this.#messages.length === 0) this.#stream.end();
  }

  #writeNextBatch(): void {
    this.#stopWatch = this.#watchWrite(() => this.#stream.close(constants.NGHTTP2_CANCEL));
    const parts = this.#takeBatch();
    const finish = (error?: Error | null): void => {
      if (!error) this.#finishBatch();
    };
    if (parts.length > 1) this.#stream.cork();
    parts.forEach((part, at) => this.#stream.write(part, at === parts.length - 1 ? finish : undefined));
    if (parts.length > 1) this.#stream.uncork();
    // Node.js can send the last messages and the end together.
    if (this.#isEnding && this.#messages.length === 0) this.#stream.end();
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
    }
    this.#batchBytes = size;
    return size <= COPIED_BATCH_BYTES ? [Buffer.concat(parts, size)] : parts;
  }

  #finishBatch(): void {
    this.#stopWatch?.();
    this.#unreadBytes -= this.#batchBytes;
    this.#batchBytes = 0;
    if (this.#messages.length > 0) this.#writeNextBatch();
    else this.#resolveDrained();
  }

  #dropMessages(): void {
    this.#stopWatch?.();
    this.#messages = [];
    this.#unreadBytes = 0;
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
