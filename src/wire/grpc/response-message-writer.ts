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
  /** Prefixes and messages that have not been passed to HTTP/2. */
  #parts: Uint8Array[] = [];
  #unreadBytes = 0;
  #batchBytes = 0;
  #stopWatch: (() => void) | undefined;
  #isEnding = false;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(stream: ServerHttp2Stream, watchWrite: WatchWriteFunction) {
    this.#stream = stream;
    this.#watchWrite = watchWrite;
  }

  /** Number of bytes that HTTP/2 has not taken. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  write(messages: readonly Uint8Array[]): void {
    if (this.#stream.destroyed) return;
    for (const message of messages) {
      this.#parts.push(encodeMessagePrefix(message.length), message);
      this.#unreadBytes += PREFIX_BYTES + message.length;
    }
    if (this.#batchBytes === 0) this.#writeNextBatch();
  }

  /** Returns a promise if messages wait for the client. The promise resolves when none waits. */
  waitUntilDrained(): Promise<void> | undefined {
    if (this.#parts.length === 0 || this.#stream.destroyed) return undefined;
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  /** Ends the stream after the last message. */
  end(): void {
    this.#isEnding = true;
    if (this.#parts.length === 0) this.#stream.end();
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
    if (this.#isEnding && this.#parts.length === 0) this.#stream.end();
  }

  #takeBatch(): Uint8Array[] {
    if (this.#unreadBytes <= BATCH_BYTES) {
      const parts = this.#parts.splice(0);
      this.#batchBytes = this.#unreadBytes;
      return this.#batchBytes <= COPIED_BATCH_BYTES ? [Buffer.concat(parts, this.#batchBytes)] : parts;
    }
    const parts: Uint8Array[] = [];
    let room = BATCH_BYTES;
    while (room > 0) {
      const part = this.#parts.shift()!;
      const fitting = part.subarray(0, room);
      parts.push(fitting);
      room -= fitting.length;
      if (fitting.length < part.length) this.#parts.unshift(part.subarray(fitting.length));
    }
    this.#batchBytes = BATCH_BYTES;
    return parts;
  }

  #finishBatch(): void {
    this.#stopWatch?.();
    this.#unreadBytes -= this.#batchBytes;
    this.#batchBytes = 0;
    if (this.#parts.length > 0) this.#writeNextBatch();
    else this.#resolveDrained();
  }

  /** Forgets all messages, because the call has ended. */
  dropMessages(): void {
    this.#stopWatch?.();
    this.#parts = [];
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
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix[0] = 0;
  prefix.writeUInt32BE(length, 1);
  return prefix;
}
