import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import type { ByteLedger } from "./byte-ledger/byte-ledger.ts";
import type { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import type { ClientCertificate, HttpReply, HttpRequest } from "./http-exchange.ts";
import { isEncryptedSocket } from "./is-encrypted-socket.ts";
import { NodeResponseSink, selectResponseTextEncoding } from "./node-response-sink.ts";
import { readNodeBodyText } from "./read-node-body-text.ts";
import { countResponseBytes } from "./response-reservation.ts";
import { isLongText, writeTextInSlices } from "./write-text-in-slices.ts";
import { endResponseBeforeUnreadBody, isBodyUnread } from "./unread-request-body.ts";
import { parseRequestTarget } from "./request-target.ts";

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
  readonly #byteLedger: ByteLedger | undefined;
  #byteAccount: ByteAccount | undefined;
  readonly #targetAuthority: string | undefined;

  constructor(incoming: IncomingMessage, url: string = incoming.url ?? "/", byteLedger?: ByteLedger) {
    this.#incoming = incoming;
    this.#byteLedger = byteLedger;
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
    return `${isEncryptedSocket(this.#incoming.socket) ? "https" : "http"}://${this.authority ?? "localhost"}`;
  }

  get remoteAddress(): string | undefined {
    return this.#incoming.socket.remoteAddress;
  }

  get byteAccount(): ByteAccount | undefined {
    return (this.#byteAccount ??= this.#byteLedger?.openAccount(this));
  }

  /**
   * Joins repeated headers. Node's object of headers keeps only the first of some headers, such as `authorization` and
   * `host`, unless the HTTP server has another setting, and a refused value could hide behind an allowed value.
   */
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

  text(maxBytes: number): string | Promise<string> {
    const contentLength = Number(this.header("content-length") ?? 0);
    return readNodeBodyText(this.#incoming, maxBytes, contentLength, this.byteAccount);
  }

  /** Returns the TLS client certificate if Node has verified the certificate. */
  certificate(): ClientCertificate | undefined {
    const { socket } = this.#incoming;
    return socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  }
}

/** Sends a reply. The byte account of the request counts the reply until the client has taken it. */
export function sendReply(
  reply: HttpReply,
  request: HttpRequest,
  outgoing: ServerResponse,
  stallWatch?: WriteStallWatch,
): void {
  const { status, headers, body = "" } = reply;
  const { byteAccount } = request;
  if (byteAccount && byteAccount.reserved > 0) closeAccountWithResponse(byteAccount, outgoing);
  if (typeof body === "function" && request.method !== "HEAD") {
    outgoing.writeHead(status, headers);
    body(new NodeResponseSink(outgoing, request, stallWatch));
    return;
  }
  // A 304 reply must not have the length of the omitted body (RFC 9110 §8.6).
  if (status === 304) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  const isHead = request.method === "HEAD";
  if (isLongText(body) && !isHead) {
    const pieces = typeof body === "string" ? [body] : body;
    // The text has just been serialized. Measuring and writing the text wait for the next turn of the event loop.
    setImmediate(() => {
      outgoing.writeHead(status, { ...headers, "content-length": countResponseBytes(pieces) });
      const sink = new NodeResponseSink(outgoing, request, stallWatch);
      void writeTextInSlices(pieces, sink, () => sink.isDestroyed);
    });
    return;
  }
  const text = typeof body === "string" ? body : typeof body === "function" ? "" : body.join("");
  const byteLength = Buffer.byteLength(text);
  const encoding = selectResponseTextEncoding(text, byteLength);
  if (isBodyUnread(outgoing.req)) {
    outgoing.writeHead(status, { ...headers, "content-length": byteLength, connection: "close" });
    endResponseBeforeUnreadBody(outgoing, isHead ? "" : text, encoding);
    return;
  }
  outgoing.writeHead(status, { ...headers, "content-length": byteLength });
  outgoing.end(isHead ? undefined : text, encoding);
  if (outgoing.writableLength > 0) new NodeResponseSink(outgoing, request, stallWatch).watchUnfinishedEnd();
}

/** Returns the reserved bytes when the response ends. */
function closeAccountWithResponse(account: ByteAccount, outgoing: ServerResponse): void {
  if (outgoing.destroyed) account.close();
  else outgoing.once("close", () => account.close());
}
