import { X509Certificate } from "node:crypto";
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { TLSSocket } from "node:tls";
import { A2AError } from "../../protocol/index.ts";
import { toGrpcError } from "../index.ts";
import type { RoutedGrpcMethod } from "./grpc-request-headers.ts";
import type { GrpcMethod, GrpcService } from "./grpc-service.ts";
import { RequestMessageDecoder } from "./request-message-decoder.ts";
import {
  buildFailureTrailers,
  buildResponseHeaders,
  DEADLINE_TRAILERS,
  SUCCESS_TRAILERS,
  type GrpcFailure,
} from "./response-headers.ts";

/** The reason for which a call ended before its response. */
interface CallInterruption {
  /**
   * `canceled` if the client canceled the call, `stalled` if the server ended the call of a client that took no bytes,
   * and `cut` if the connection broke.
   */
  readonly reason: "cut" | "stalled" | "canceled";
  readonly error?: string;
}

/** Response to a gRPC call: a failure, or metadata with one message or a stream of messages. */
export type GrpcResponseOrFailure =
  | { readonly failure: GrpcFailure }
  | {
      /** Metadata that the server sends before the first message. */
      readonly headers: Readonly<Record<string, string>> | undefined;
      /** Response message, or a function that writes a stream of response messages. */
      readonly body: Uint8Array | (() => void);
      readonly watchWrite: WatchWriteFunction;
    };

/** What a listener allows the request message of a call. */
interface RequestLimits {
  /** Time in milliseconds in which the request message must arrive completely. */
  readonly receiveMs: number;
  /** Maximum size of the request message, in bytes. */
  readonly maxRequestBytes: number;
}

/**
 * A call that the server received from a gRPC client, on one HTTP/2 stream. The call reads one request message, and
 * writes a response.
 */
export class GrpcServerCall {
  readonly service: GrpcService;
  readonly method: GrpcMethod;
  /** IP address of the client, or of the proxy between the client and this server. */
  readonly remoteAddress: string | undefined;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #maxRequestBytes: number;
  readonly #receiveTimer: NodeJS.Timeout;
  readonly #deadlineTimer: NodeJS.Timeout | undefined;
  readonly #closeCallbacks: ((interruption?: CallInterruption) => void)[] = [];
  #rejectRequest: ((reason: A2AError) => void) | undefined;
  #writer: ResponseMessageWriter | undefined;
  #trailers: OutgoingHttpHeaders | undefined;
  /** Why the server itself has ended the call. */
  #interruption: CallInterruption | undefined;

  /** `timeoutMs` is the deadline of the client, as the time that remains in milliseconds. */
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    { service, method }: RoutedGrpcMethod,
    timeoutMs: number | undefined,
    remoteAddress: string | undefined,
    { receiveMs, maxRequestBytes }: RequestLimits,
  ) {
    this.service = service;
    this.method = method;
    this.remoteAddress = remoteAddress;
    this.#stream = stream;
    this.#headers = headers;
    this.#maxRequestBytes = maxRequestBytes;
    this.#receiveTimer = setTimeout(() => this.#endAfterReceiveTimeout(receiveMs), receiveMs);
    this.#deadlineTimer = timeoutMs === undefined ? undefined : setTimeout(() => this.#expire(), timeoutMs);
    // One listener for all parts of the call, because each listener costs time in each call.
    stream.on("close", () => this.#handleClose());
  }

  /** Returns the value of a metadata key, which must be in lower case. */
  header(name: string): string | undefined {
    const value = this.#headers[name === "host" && ":authority" in this.#headers ? ":authority" : name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** Returns the client certificate that TLS has verified. */
  certificate(): X509Certificate | undefined {
    const socket = this.#stream.session?.socket;
    if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
    // `raw` is absent if the client sent no certificate.
    const { raw } = socket.getPeerCertificate() as { readonly raw?: Buffer };
    return raw && new X509Certificate(raw);
  }

  /**
   * Reads the bytes of the request message. Calls `reserveBytes` with the size of the message before it stores any part.
   * The function throws to refuse the message. Rejects if the client sends anything but one message, and if the client
   * cancels the call. Before this call, the server has at most the initial window of HTTP/2 in memory (64 KiB).
   */
  receiveRequest(reserveBytes: (bytes: number) => void): Promise<Uint8Array> {
    const stream = this.#stream;
    const decoder = new RequestMessageDecoder(this.#maxRequestBytes, reserveBytes);
    return new Promise((resolve, reject) => {
      if (this.hasEnded) return reject(createCanceledError());
      const finish = (): void => {
        this.#rejectRequest = undefined;
        clearTimeout(this.#receiveTimer);
        try {
          resolve(decoder.finish());
        } catch (error) {
          reject(A2AError.from(error));
        }
      };
      // Node.js emits the end of an empty body before anything reads the body.
      if (stream.readableEnded) return finish();
      this.#rejectRequest = reject;
      stream.on("end", finish);
      stream.on("data", (chunk: Buffer) => {
        try {
          decoder.push(chunk);
        } catch (error) {
          stream.removeAllListeners("data").pause();
          reject(A2AError.from(error));
        }
      });
    });
  }

  /** Whether the call has ended. */
  get isClosed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  /**
   * Calls the callback once when the call has ended. `interruption` is the reason for which the call did not end
   * regularly.
   */
  onClose(callback: (interruption?: CallInterruption) => void): void {
    if (this.isClosed) callback(this.#findInterruption());
    else this.#closeCallbacks.push(callback);
  }

  #handleClose(): void {
    clearTimeout(this.#receiveTimer);
    clearTimeout(this.#deadlineTimer);
    this.#rejectRequest?.(createCanceledError());
    this.#writer?.dropMessages();
    const interruption = this.#findInterruption();
    for (const callback of this.#closeCallbacks) callback(interruption);
  }

  /** A client cancels with CANCEL, or closes its connection in good order. A broken connection has another code. */
  #findInterruption(): CallInterruption | undefined {
    const { rstCode } = this.#stream;
    if (this.#interruption) return this.#interruption;
    if (rstCode === constants.NGHTTP2_CANCEL) return { reason: "canceled" };
    if (rstCode !== constants.NGHTTP2_NO_ERROR) return { reason: "cut", error: `HTTP/2 error ${rstCode}` };
    return this.#trailers === undefined ? { reason: "canceled" } : undefined;
  }

  /** Sends the response, unless the call has ended. */
  respond(response: GrpcResponseOrFailure): void {
    if ("failure" in response) return this.end(response.failure);
    const { headers, body, watchWrite } = response;
    // The body releases what it holds.
    if (this.hasEnded) return typeof body === "function" ? body() : undefined;
    this.#stream.respond(buildResponseHeaders(headers), { waitForTrailers: true });
    this.#stream.on("wantTrailers", () => this.#stream.sendTrailers(this.#trailers ?? SUCCESS_TRAILERS));
    this.#writer = new ResponseMessageWriter(this.#stream, (disconnect) =>
      watchWrite(() => {
        this.#interruption = { reason: "stalled" };
        disconnect();
      }),
    );
    if (typeof body === "function") return body();
    this.#writer.write([body]);
    this.end();
  }

  /** Number of bytes of the response that wait for the client. */
  get unreadBytes(): number {
    return this.#writer?.unreadBytes ?? 0;
  }

  /**
   * Writes messages of a response stream. If the client is slow, the result is a promise that resolves when the client
   * can receive more messages or has disconnected.
   */
  write(messages: readonly Uint8Array[]): Promise<void> | undefined {
    if (this.hasEnded) return undefined;
    this.#writer?.write(messages);
    return this.#writer?.waitUntilDrained();
  }

  /** Ends the response stream, or the entire call if `respond` was not called. */
  end(failure?: GrpcFailure): void {
    this.#endWithTrailers(failure ? buildFailureTrailers(failure) : SUCCESS_TRAILERS);
  }

  /** True if the call has its result, or is closed. */
  get hasEnded(): boolean {
    return this.#trailers !== undefined || this.isClosed;
  }

  #endAfterReceiveTimeout(receiveMs: number): void {
    const text = `The request message did not arrive within ${receiveMs / 1000} s; send a smaller message.`;
    this.end({ ...toGrpcError(new A2AError("RESOURCE_EXHAUSTED", text), "1.0.1"), headers: {} });
  }

  /** Ends the call because the client's deadline has expired. A client that does not read gets no trailers. */
  #expire(): void {
    this.#interruption = { reason: "canceled", error: "DEADLINE_EXCEEDED" };
    if (this.#writer) this.#stream.close(constants.NGHTTP2_CANCEL);
    else this.#endWithTrailers(DEADLINE_TRAILERS);
  }

  #endWithTrailers(trailers: OutgoingHttpHeaders): void {
    if (this.hasEnded) return;
    this.#trailers = trailers;
    if (this.#writer) return this.#writer.end();
    this.#stream.respond({ ...buildResponseHeaders(undefined), ...trailers }, { endStream: true });
    if (this.#stream.readableEnded) return;
    // The client may still be sending its message, which the server does not read. Node.js reports the end of a stream
    // without an error only after the rest of the message has been read.
    this.#stream.close(constants.NGHTTP2_NO_ERROR);
    this.#stream.resume();
  }
}

function createCanceledError(): A2AError {
  return new A2AError("INVALID_REQUEST", "The client canceled the call before the request was complete.");
}

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
type WatchWriteFunction = (disconnect: () => void) => () => void;

/**
 * Writes the messages of a response as fast as the client reads them. The writer passes one batch at a time to HTTP/2.
 * The completion of each batch shows that the client reads.
 */
class ResponseMessageWriter {
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
