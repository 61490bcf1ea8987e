/** A request, as every host can give it. */
export interface HttpRequest {
  readonly method: string;
  /** The path of the URL, still percent-encoded, without the query. */
  readonly path: string;
  /** The query of the URL, without the question mark; "" when there is none. */
  readonly query: string;
  /** Scheme and host under which the client reached this server, for example `http://127.0.0.1:4100`. */
  readonly origin: string;
  /** A header by its lower-case name. */
  header(name: string): string | undefined;
  /** The whole body as text; rejects with PAYLOAD_TOO_LARGE past `maxBytes` and with PARSE_ERROR when it is not UTF-8. */
  text(maxBytes: number): Promise<string>;
  /** The certificate that the client has proven to have, where a host knows. */
  certificate?(): ClientCertificate | undefined;
}

/** What `node:crypto`'s `X509Certificate` has of a client. */
export interface ClientCertificate {
  readonly subject: string;
  readonly subjectAltName?: string | undefined;
  readonly fingerprint256: string;
}

/** Where a streamed body goes. */
export interface ResponseSink {
  /** Writes text; the answer, if there is one, resolves when there is room for more. */
  write(text: string): Promise<void> | undefined;
  end(): void;
  /** Calls back once when the client is gone, or the body has ended. */
  onClose(callback: () => void): void;
}

/** An answer, as every host can send it. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text, or a function that writes a stream. */
  readonly body?: string | ((sink: ResponseSink) => void);
}

/** A JSON answer. */
export function createJsonReply(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): HttpReply {
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}
