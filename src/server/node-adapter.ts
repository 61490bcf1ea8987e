import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import { A2AError } from "../protocol/index.ts";
import { decodeBodyText, createPayloadTooLargeError } from "./request-body.ts";
import { parseRequestTarget } from "./request-target.ts";
import type { ClientCertificate, HttpReply, HttpRequest, ResponseSink } from "./http-exchange.ts";

/**
 * Returns the full URL of a request. Express removes the mount path from `url`, but keeps the full URL in
 * `originalUrl`.
 */
export function getOriginalUrl(
  incoming: IncomingMessage & { readonly originalUrl?: unknown },
): string | undefined {
  return typeof incoming.originalUrl === "string" ? incoming.originalUrl : incoming.url;
}

/**
 * Adapts a `node:http` request to `HttpRequest`. The adapter is faster than a conversion to a WHATWG
 * `Request`.
 */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #incoming: IncomingMessage;
  readonly #targetAuthority: string | undefined;

  constructor(incoming: IncomingMessage, url: string = incoming.url ?? "/") {
    this.#incoming = incoming;
    this.method = incoming.method ?? "GET";
    const { authority, path, query } = parseRequestTarget(url);
    this.#targetAuthority = authority;
    this.path = path;
    this.query = query;
  }

  /**
   * The Host header does not count for a request target in absolute form (RFC 9112 §3.2.2). HTTP/2 has a
   * pseudo-header instead.
   */
  get authority(): string | undefined {
    return this.#targetAuthority ?? this.header("host") ?? this.header(":authority");
  }

  get origin(): string {
    const encrypted = "encrypted" in this.#incoming.socket;
    return `${encrypted ? "https" : "http"}://${this.authority ?? "localhost"}`;
  }

  get remoteAddress(): string | undefined {
    return this.#incoming.socket.remoteAddress;
  }

  /** Searches the raw headers. A few linear searches are faster than building the header object of Node. */
  header(name: string): string | undefined {
    const { rawHeaders } = this.#incoming;
    let found: string | undefined;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const key = rawHeaders[at] ?? "";
      if (key.length !== name.length || key.toLowerCase() !== name) continue;
      const value = rawHeaders[at + 1] ?? "";
      found = found === undefined ? value : `${found}, ${value}`;
    }
    return found;
  }

  text(maxBytes: number): Promise<string> {
    return readBodyText(this.#incoming, maxBytes);
  }

  /** Returns the TLS client certificate if Node has verified the certificate. */
  certificate(): ClientCertificate | undefined {
    const { socket } = this.#incoming;
    return socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  }
}

/**
 * Returns the request body that the host app has already read. Cloud functions store the bytes of the request
 * body in `rawBody`. The middleware `express.json()` stores the parsed request body in `body`.
 * `getBufferedBody` serializes the parsed body again.
 */
export function getBufferedBody(
  incoming: IncomingMessage & { readonly rawBody?: unknown; readonly body?: unknown },
): Buffer | undefined {
  const { rawBody, body } = incoming;
  if (Buffer.isBuffer(rawBody)) return rawBody;
  if (Buffer.isBuffer(body)) return body;
  if (body === undefined) return undefined;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/**
 * Reads the request body with stream events, because async iteration over a `node:http` request is several
 * times slower.
 */
function readBodyText(incoming: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (text: string | A2AError): void => {
      if (typeof text === "string") resolve(text);
      else reject(text);
    };
    if (incoming.readableEnded) {
      const buffered = getBufferedBody(incoming);
      if (buffered)
        settle(buffered.length > maxBytes ? createPayloadTooLargeError(maxBytes) : decodeBodyText(buffered));
      else reject(new Error("The request body was already read; mount the listener before body parsers."));
      return;
    }
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // The rest of a too large body is read and discarded, so that the client receives the error reply.
      if (size > maxBytes) more = undefined;
      else if (first) (more ??= [first]).push(chunk);
      else first = chunk;
    });
    incoming.on("end", () => {
      const body = more ? Buffer.concat(more) : (first ?? Buffer.alloc(0));
      settle(size > maxBytes ? createPayloadTooLargeError(maxBytes) : decodeBodyText(body));
    });
    incoming.on("error", (cause) => {
      reject(
        new A2AError(
          "PARSE_ERROR",
          "The connection ended before the request body was complete; send the request again.",
          { cause },
        ),
      );
    });
  });
}

export function sendReply(reply: HttpReply, request: HttpRequest, outgoing: ServerResponse): void {
  const { status, headers, body } = reply;
  if (typeof body === "function" && request.method !== "HEAD") {
    outgoing.writeHead(status, headers);
    body(new NodeResponseSink(outgoing));
    return;
  }
  // A 304 reply must not have the length of the omitted body (RFC 9110 §8.6).
  if (status === 304) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  const text = typeof body === "string" ? body : "";
  if (text.length > MAX_WRITE_LENGTH && request.method !== "HEAD") {
    // The text has just been serialized. Measuring and writing the text wait for the next turn of the event loop.
    setImmediate(() => {
      outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
      void writeInSlices(text, new NodeResponseSink(outgoing));
    });
    return;
  }
  const byteLength = Buffer.byteLength(text);
  outgoing.writeHead(status, { ...headers, "content-length": byteLength });
  outgoing.end(request.method === "HEAD" ? undefined : text, selectResponseTextEncoding(text, byteLength));
}

/** Number of characters that one write copies. Copying 10 MB at once would block the event loop for about 20 ms. */
const MAX_WRITE_LENGTH = 1024 * 1024;

/** Writes a long text in slices, so that other requests run in between. Waits for a slow reader after each slice. */
async function writeInSlices(text: string, sink: NodeResponseSink): Promise<void> {
  for (let start = 0; start < text.length && !sink.isDestroyed;) {
    const end = Math.min(start + MAX_WRITE_LENGTH, text.length);
    // A slice must not end between the two halves of a character outside of the Basic Multilingual Plane.
    const sliceEnd = isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end;
    await (sink.write(text.slice(start, sliceEnd)) ?? new Promise(setImmediate));
    start = sliceEnd;
  }
  sink.end();
}

function isHighSurrogate(charCode: number): boolean {
  return charCode >= 0xd800 && charCode <= 0xdbff;
}

/** Returns `latin1` if the text is ASCII, because Node writes `latin1` text much faster than `utf8` text. */
function selectResponseTextEncoding(text: string, byteLength = Buffer.byteLength(text)): "latin1" | "utf8" {
  return byteLength === text.length ? "latin1" : "utf8";
}

class NodeResponseSink implements ResponseSink {
  readonly #outgoing: ServerResponse;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
    // Without a listener, a write error after a disconnect would end the process.
    outgoing.on("error", () => outgoing.destroy());
  }

  /** True if the connection has ended. */
  get isDestroyed(): boolean {
    return this.#outgoing.destroyed;
  }

  write(text: string): Promise<void> | undefined {
    const outgoing = this.#outgoing;
    if (outgoing.write(text, selectResponseTextEncoding(text)) || outgoing.destroyed) return undefined;
    return new Promise((resolve) => {
      const resume = (): void => {
        outgoing.off("drain", resume);
        outgoing.off("close", resume);
        resolve();
      };
      outgoing.on("drain", resume);
      outgoing.on("close", resume);
    });
  }

  end(): void {
    this.#outgoing.end();
  }

  onClose(callback: () => void): void {
    // A destroyed response emits no further `close` event.
    if (this.#outgoing.destroyed) callback();
    else this.#outgoing.once("close", callback);
  }
}
