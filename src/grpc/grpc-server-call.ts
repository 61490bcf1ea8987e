import { X509Certificate } from "node:crypto";
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { TLSSocket } from "node:tls";
import { A2AError } from "../protocol/index.ts";
import { FairShareReservation } from "../data-structures/index.ts";
import { toGrpcError } from "../wire/index.ts";
import { createGrpcLimitError, type GrpcLedgers, type GrpcLimits } from "./grpc-limits.ts";
import type { GrpcMethod, GrpcService } from "./grpc-service.ts";
import { RequestMessageDecoder } from "./request-message-decoder.ts";
import type { ResponseByteAccount } from "./response-byte-account.ts";
import {
  buildFailureTrailers,
  buildResponseHeaders,
  DEADLINE_TRAILERS,
  SUCCESS_TRAILERS,
  type GrpcFailure,
} from "./response-headers.ts";
import { ResponseMessageWriter } from "./response-message-writer.ts";

/** The client address of a call. */
export interface CallOrigin {
  /** IP address of the client, or of the proxy between the client and this server. */
  readonly remoteAddress: string | undefined;
  /** Key under which the ledgers account for what the address uses. */
  readonly addressHolder: string;
}

/** A call that the server received from a gRPC client. The request message has not been read yet. */
export interface IncomingCall extends CallOrigin {
  readonly service: GrpcService;
  readonly method: GrpcMethod;
  /** Returns the value of a metadata key, which must be in lower case. */
  header(name: string): string | undefined;
  /** Returns the client certificate that TLS has verified. */
  certificate(): X509Certificate | undefined;
  /**
   * Reads the request message, and returns what `decode` returns for its bytes. From now on, the ledgers account for the
   * call under the key `holder`. Rejects if the client sends anything but one message, if the holder has used up its
   * share of a limit, and if the client cancels the call. Until this call, HTTP/2 holds back the message: the server has
   * at most 64 KiB of it in memory.
   */
  receiveRequest<Request>(holder: string, decode: (bytes: Uint8Array) => Request): Promise<Request>;
}

/** Response to a gRPC call: a failure, or metadata with one message or a stream of messages. */
export type GrpcResponseOrFailure =
  | { readonly failure: GrpcFailure }
  | {
      /** Metadata that the server sends before the first message. */
      readonly headers: Readonly<Record<string, string>>;
      /** Response message, or a function that writes a stream of response messages. */
      readonly body: Uint8Array | ((sink: GrpcResponseMessageSink) => void);
    };

/** A sink that receives the messages of a response stream. */
export interface GrpcResponseMessageSink {
  /**
   * Writes a message. If the client is slow, the sink returns a promise. The promise resolves when the client can
   * receive more messages or has disconnected. If the caller has too many unread messages, the sink ends the call.
   */
  write(binary: Uint8Array): Promise<void> | undefined;
  end(failure?: GrpcFailure): void;
  /** Calls the callback once when the call has ended, for example because the client has disconnected. */
  onClose(callback: () => void): void;
}

/** Limits and accounts that the calls of a listener share. */
export interface GrpcCallContext {
  readonly limits: GrpcLimits;
  readonly ledgers: GrpcLedgers;
  readonly responseAccount: ResponseByteAccount;
  readonly maxRequestBytes: number;
}

interface GrpcServerCallOptions {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly service: GrpcService;
  readonly method: GrpcMethod;
  readonly origin: CallOrigin;
  /** Deadline of the client, as the time that remains in milliseconds. */
  readonly timeoutMs: number | undefined;
  readonly context: GrpcCallContext;
}

/** Bytes of an unread request that HTTP/2 may hold for a call: the initial window of a stream. */
const UNREAD_REQUEST_BYTES = 64 * 1024;

/** One call on an HTTP/2 stream. The call reads one request message, and writes a response. */
export class GrpcServerCall implements IncomingCall, GrpcResponseMessageSink {
  readonly service: GrpcService;
  readonly method: GrpcMethod;
  readonly remoteAddress: string | undefined;
  readonly addressHolder: string;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #context: GrpcCallContext;
  readonly #callReservation: FairShareReservation;
  readonly #requestReservation: FairShareReservation;
  readonly #receiveTimer: NodeJS.Timeout;
  #holder = "";
  #writer: ResponseMessageWriter | undefined;
  #trailers: OutgoingHttpHeaders | undefined;

  constructor({ stream, headers, service, method, origin, timeoutMs, context }: GrpcServerCallOptions) {
    this.service = service;
    this.method = method;
    this.remoteAddress = origin.remoteAddress;
    this.addressHolder = origin.addressHolder;
    this.#stream = stream;
    this.#headers = headers;
    this.#context = context;
    this.#callReservation = new FairShareReservation(context.ledgers.calls);
    this.#requestReservation = new FairShareReservation(context.ledgers.requestBytes);
    const { receiveMs } = context.limits;
    this.#receiveTimer = setTimeout(() => this.#refuse(createReceiveTimeoutError(receiveMs)), receiveMs);
    const deadlineTimer = timeoutMs === undefined ? undefined : setTimeout(() => this.#expire(), timeoutMs);
    stream.once("close", () => {
      clearTimeout(this.#receiveTimer);
      clearTimeout(deadlineTimer);
      this.#callReservation.release();
      this.#requestReservation.release();
    });
  }

  /**
   * Accounts for the call under the key of the client's address, before anything else happens. If the address has used
   * up its share, ends the call and returns false.
   */
  admit(): boolean {
    try {
      this.#accountFor(this.addressHolder);
      return true;
    } catch (error) {
      this.#refuse(A2AError.from(error));
      return false;
    }
  }

  header(name: string): string | undefined {
    const value = this.#headers[name === "host" && ":authority" in this.#headers ? ":authority" : name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  certificate(): X509Certificate | undefined {
    const socket = this.#stream.session?.socket;
    if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
    // `raw` is absent if the client sent no certificate.
    const { raw } = socket.getPeerCertificate() as { readonly raw?: Buffer };
    return raw && new X509Certificate(raw);
  }

  async receiveRequest<Request>(holder: string, decode: (bytes: Uint8Array) => Request): Promise<Request> {
    this.#holder = holder;
    this.#accountFor(holder);
    try {
      const message = await this.#readMessage();
      clearTimeout(this.#receiveTimer);
      return decode(message);
    } finally {
      this.#requestReservation.release();
    }
  }

  /** Sends the response, unless the call has ended. */
  respond(response: GrpcResponseOrFailure): void {
    if ("failure" in response) return this.end(response.failure);
    if (this.#hasEnded) return;
    this.#stream.respond(buildResponseHeaders(response.headers), { waitForTrailers: true });
    this.#stream.once("wantTrailers", () => this.#stream.sendTrailers(this.#trailers ?? SUCCESS_TRAILERS));
    const { responseAccount: account, limits } = this.#context;
    const { readMs } = limits;
    this.#writer = new ResponseMessageWriter({ stream: this.#stream, account, holder: this.#holder, readMs });
    if (typeof response.body === "function") return response.body(this);
    void this.write(response.body);
    this.end();
  }

  write(binary: Uint8Array): Promise<void> | undefined {
    if (this.#hasEnded) return undefined;
    const refusal = this.#writer?.write(binary);
    if (refusal === undefined) return this.#writer?.waitUntilDrained();
    this.#refuse(createGrpcLimitError("responseBytes", refusal));
    return undefined;
  }

  end(failure?: GrpcFailure): void {
    this.#endWithTrailers(failure ? buildFailureTrailers(failure) : SUCCESS_TRAILERS);
  }

  onClose(callback: () => void): void {
    if (this.#stream.destroyed) callback();
    else this.#stream.once("close", callback);
  }

  get #hasEnded(): boolean {
    return this.#trailers !== undefined || this.#stream.destroyed || this.#stream.closed;
  }

  #accountFor(holder: string): void {
    const callRefusal = this.#callReservation.replace(holder, 1);
    if (callRefusal !== undefined) throw createGrpcLimitError("calls", callRefusal);
    this.#reserveRequestBytes(holder, UNREAD_REQUEST_BYTES);
  }

  #reserveRequestBytes(holder: string, bytes: number): void {
    const refusal = this.#requestReservation.replace(holder, bytes);
    if (refusal !== undefined) throw createGrpcLimitError("requestBytes", refusal);
  }

  #readMessage(): Promise<Uint8Array> {
    const decoder = new RequestMessageDecoder(this.#context.maxRequestBytes, (bytes) =>
      this.#reserveRequestBytes(this.#holder, UNREAD_REQUEST_BYTES + bytes),
    );
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) return reject(createCanceledError());
      stream.once("close", () => reject(createCanceledError()));
      stream.once("end", () => {
        try {
          resolve(decoder.finish());
        } catch (error) {
          reject(A2AError.from(error));
        }
      });
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

  #refuse(error: A2AError): void {
    const { retryAfter } = error;
    const headers: Record<string, string> =
      retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` };
    this.end({ ...toGrpcError(error, "1.0.1"), headers });
  }

  /** Ends the call because the client's deadline has expired. A client that does not read gets no trailers. */
  #expire(): void {
    if (this.#writer) this.#stream.close(constants.NGHTTP2_CANCEL);
    else this.#endWithTrailers(DEADLINE_TRAILERS);
  }

  #endWithTrailers(trailers: OutgoingHttpHeaders): void {
    if (this.#hasEnded) return;
    this.#trailers = trailers;
    if (this.#writer) return this.#writer.end();
    this.#stream.respond({ ...buildResponseHeaders({}), ...trailers }, { endStream: true });
    // The client may still be sending its message, which nobody reads.
    if (!this.#stream.readableEnded) this.#stream.close(constants.NGHTTP2_NO_ERROR);
  }
}

function createCanceledError(): A2AError {
  return new A2AError("INVALID_REQUEST", "The client canceled the call before the request was complete.");
}

function createReceiveTimeoutError(receiveMs: number): A2AError {
  const text = `The request message did not arrive within ${receiveMs} ms; send it faster, or raise grpc.limits.receiveMs of the server.`;
  return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
}
