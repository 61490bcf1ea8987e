/** An HTTP request, independent of the host that received it. */
export interface HttpRequest {
  readonly method: string;
  /** URL path, percent-encoded, without the query. */
  readonly path: string;
  /** URL query without the question mark. Empty when the URL has no query. */
  readonly query: string;
  /** Scheme and host under which the client reached this server, for example `http://127.0.0.1:4100`. */
  readonly origin: string;
  /** Returns the value of a header by its lower-case name. */
  header(name: string): string | undefined;
  /**
   * Returns the complete body as text. Rejects with PAYLOAD_TOO_LARGE for a body larger than `maxBytes`, and
   * with PARSE_ERROR for a body that is not UTF-8.
   */
  text(maxBytes: number): Promise<string>;
  /** Returns the verified TLS client certificate, if the host provides one. */
  certificate?(): ClientCertificate | undefined;
}

/** Members of a client certificate, as in `X509Certificate` of `node:crypto`. */
export interface ClientCertificate {
  readonly subject: string;
  readonly subjectAltName?: string | undefined;
  readonly fingerprint256: string;
}

/** Receives the parts of a streamed response body. */
export interface ResponseSink {
  /** Writes text. A returned promise resolves when the connection can accept more. */
  write(text: string): Promise<void> | undefined;
  end(): void;
  /** Calls `callback` once when the client has disconnected or the body has ended. */
  onClose(callback: () => void): void;
}

/** An HTTP response, independent of the host that sends it. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** A text, or a function that writes a stream. */
  readonly body?: string | ((sink: ResponseSink) => void);
}

/** Returns a reply with a JSON body. */
export function createJsonReply(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): HttpReply {
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}
