import type { Caller, StreamInterruption } from "../engine/index.ts";
import type { RequestLine } from "../observe/trace/index.ts";
import { A2AError } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";

/** An HTTP request, independent of the web framework that received the request. */
export interface HttpRequest {
  readonly method: string;
  /** Percent-encoded URL path without the query. The server removes its `basePath`. */
  path: string;
  /** The option `basePath` of the server, which `origin` then includes. */
  basePath?: string;
  /** URL query without the question mark, or an empty string if the URL has no query. */
  readonly query: string;
  /**
   * Host and port that the request addresses, as sent: from a request target in absolute form, or else from the
   * Host header. Only a request of HTTP/1.0 may have no authority. The value may be invalid.
   */
  readonly authority: string | undefined;
  /**
   * URL scheme, host, and port that the client used to reach this server, for example
   * `http://127.0.0.1:4100`, and the base path of the server.
   */
  readonly origin: string;
  /** Returns the value of a header. The parameter must be the header name in lower case. */
  header(name: string): string | undefined;
  /**
   * Returns the complete request body as text. Throws or rejects with PAYLOAD_TOO_LARGE as soon as the body is larger
   * than `maxBytes`, with RESOURCE_EXHAUSTED if the holder's share of the byte ledger is used up, and with PARSE_ERROR if
   * the body is not UTF-8.
   */
  text(maxBytes: number): string | Promise<string>;
  /**
   * IP address of the client, or of the proxy between the client and this server. `undefined` if the runtime does not
   * provide the address, and for Unix sockets.
   */
  readonly remoteAddress?: string | undefined;
  /** Accounts for the bytes that the server holds for this request. Default: the server does not count the bytes. */
  readonly byteAccount?: ByteAccount | undefined;
  /** Calls the callback if the client disconnects. Returns a function that removes the callback. */
  onDisconnect(callback: () => void): () => void;
  /** Returns the verified TLS client certificate, or `undefined` if the client sent no certificate. */
  certificate?(): ClientCertificate | undefined;
}

/** An HTTP request without its body. */
export type RequestMetadata = Pick<
  HttpRequest,
  "header" | "query" | "origin" | "byteAccount" | "onDisconnect"
>;

/** TLS client certificate, with the same members as `X509Certificate` of `node:crypto`. */
export interface ClientCertificate {
  readonly subject: string;
  readonly subjectAltName?: string | undefined;
  readonly fingerprint256: string;
}

/** Receives the chunks of a streamed response body. */
export interface ResponseSink {
  /**
   * Reserves the bytes of the next write. Returns an error if the holder's share of the byte ledger is used up. The
   * text must then be dropped.
   */
  reserve(bytes: number): A2AError | undefined;
  /**
   * Writes text to the response body. If the connection is busy, returns a promise that resolves when the
   * connection can accept more text.
   */
  write(text: string): Promise<void> | undefined;
  /** Ends the response body, after the last text. */
  end(lastText?: string): void;
  /**
   * Calls `callback` once when the client has disconnected or the response body has ended. `interruption` is the reason
   * for which the body did not end regularly.
   */
  onClose(callback: (interruption?: StreamInterruption) => void): void;
}

/** An HTTP response, independent of the web framework that sends the response. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Response body as text, or a function that writes a long text or a stream to the response body. */
  readonly body?: string | ((sink: ResponseSink) => void);
  /** Set if the server refused the request before it knew the operation. */
  readonly refusal?: RequestRefusal;
}

/** The cause of an error reply to a request whose operation is not known, for the traffic record. */
export interface RequestRefusal {
  /** HTTP method, or the operation of a gRPC call. */
  readonly operation: string;
  readonly binding: RequestLine["binding"];
  /** Id of the agent. Missing if the path of the request names no agent. */
  readonly agentId?: string | undefined;
  /** The caller. Missing if the caller is not authenticated. */
  readonly caller?: Caller | undefined;
  readonly error: A2AError;
}

export function createJsonReply(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): HttpReply {
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}

/**
 * Error for a request whose HTTP method is not allowed. The header `Allow` of the error reply lists the
 * allowed HTTP methods.
 */
export class MethodNotAllowedError extends A2AError {
  readonly allowedMethods: readonly string[];

  constructor({ path, method }: HttpRequest, allowedMethods: readonly string[]) {
    super("METHOD_NOT_ALLOWED", `${path} does not accept ${method}; use ${allowedMethods.join(" or ")}.`);
    this.allowedMethods = allowedMethods;
  }
}

export function assertHttpMethodAllowed(request: HttpRequest, allowedMethods: readonly string[]): void {
  if (!allowedMethods.includes(request.method)) throw new MethodNotAllowedError(request, allowedMethods);
}
