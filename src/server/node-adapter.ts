import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import type { Socket } from "node:net";
import type { ByteAccount, ByteLedger } from "./byte-ledger/byte-ledger.ts";
import type { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import type { ClientCertificate, HttpReply, HttpRequest, ResponseSink } from "./http-exchange.ts";
import { readNodeBodyText, UnstreamedRequest } from "./read-node-body-text.ts";
import { iterateSlices, MAX_WRITE_LENGTH } from "./result-reply.ts";
import { systemClock, type StreamInterruption } from "../engine/index.ts";
import type { A2AError } from "../protocol/index.ts";

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
  path: string;
  basePath = "";
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
    const scheme = isEncryptedSocket(this.#incoming.socket) ? "https" : "http";
    return `${scheme}://${this.authority ?? "localhost"}${this.basePath}`;
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

  onDisconnect(callback: () => void): () => void {
    const { socket } = this.#incoming;
    if (socket.destroyed) callback();
    else socket.once("close", callback);
    return () => void socket.off("close", callback);
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
    body(new NodeResponseSink(outgoing, request, stallWatch, reply));
    return;
  }
  // A 304 reply must not have the length of the omitted body, and a 204 reply must have no length (RFC 9110 §8.6).
  if (status === 304 || status === 204) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  const isHead = request.method === "HEAD";
  const text = typeof body === "string" ? body : "";
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

/** The parts of a request target, which is the second word of an HTTP/1.1 request line (RFC 9112 §3.2). */
interface RequestTarget {
  /** Host and port of a target in absolute form. A target in another form has no authority. */
  readonly authority: string | undefined;
  /** Percent-encoded URL path, or `*` for a target in asterisk form. */
  readonly path: string;
  /** URL query without the question mark, or an empty string. */
  readonly query: string;
}

/**
 * Parses a request target in origin form (`/path?query`), absolute form (`http://host/path?query`), or asterisk
 * form (`*`). The function does not check the authority, because `parseHostAndPort` checks it like a Host header.
 */
export function parseRequestTarget(target: string): RequestTarget {
  if (target.startsWith("/")) return splitQuery(undefined, target);
  const [, authority, rest = ""] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  if (authority === undefined) return splitQuery(undefined, target);
  return splitQuery(authority, rest.startsWith("/") ? rest : `/${rest}`);
}

function splitQuery(authority: string | undefined, text: string): RequestTarget {
  const mark = text.indexOf("?");
  return mark < 0
    ? { authority, path: text, query: "" }
    : { authority, path: text.slice(0, mark), query: text.slice(mark + 1) };
}

/** Returns whether a connection uses TLS. On Bun, the sockets of connections without TLS also have `encrypted`. */
export function isEncryptedSocket(socket: object): boolean {
  return "encrypted" in socket && socket.encrypted === true;
}

/**
 * Limits of the bytes that the server still reads after a reply to an unfinished request. A connection that is closed
 * with unread bytes can lose the reply (RFC 9112 §9.6), so the server reads the rest for a while.
 */
const DISCARD_LIMITS = {
  bytes: 64 * 1024,
  /** Many clients read a reply only after they have sent the whole body, and this body may be slightly too large. */
  bytesOfTooLargeBody: 16 * 2 ** 20,
  ms: 2000,
};

/** Returns true if a part of the request body has not arrived. */
export function isBodyUnread(incoming: IncomingMessage): boolean {
  if (incoming.complete || (incoming instanceof UnstreamedRequest && incoming.hasCompleteBody)) return false;
  const { headers } = incoming;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * Writes the text of a response whose request body has not arrived completely, discards a bounded rest of the body for a
 * bounded time, and closes the connection. The headers of the response must declare `content-length` and
 * `connection: close`.
 */
export function endResponseBeforeUnreadBody(
  outgoing: ServerResponse,
  text: string,
  encoding: "latin1" | "utf8",
): void {
  const incoming = outgoing.req;
  outgoing.on("error", () => outgoing.destroy());
  if (text === "") outgoing.flushHeaders();
  else outgoing.write(text, encoding);
  let remaining = outgoing.statusCode === 413 ? DISCARD_LIMITS.bytesOfTooLargeBody : DISCARD_LIMITS.bytes;
  // The client is still able to read the reply, while its unread bytes wait in the buffers of the network.
  const stopReading = (): void => void incoming.socket.pause();
  incoming.on("data", (chunk: Buffer) => {
    remaining -= chunk.length;
    if (remaining < 0) stopReading();
  });
  const end = (): void => {
    cancelTimeout();
    if (!outgoing.writableEnded) outgoing.end();
  };
  const cancelTimeout = systemClock.schedule(DISCARD_LIMITS.ms, () => {
    end();
    // A client that has not read its reply until now loses the connection.
    outgoing.destroy();
  });
  incoming.once("end", end).on("error", end);
  outgoing.once("close", cancelTimeout);
  // The end of a much longer body is out of reach, so reading a part of the body has no use.
  if (Number(incoming.headers["content-length"] ?? 0) > 2 * remaining) stopReading();
  else incoming.resume();
}

/** Responses that wait for the earlier responses of their connection. */
const waitingResponses = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Makes sure that the response to a pipelined request emits `close` when its connection closes. Node.js 22 emits the
 * event only for the response that is being sent, and the waiting responses would keep their shares forever. Call the
 * function before any other event of the connection.
 */
export function closePipelinedResponseWithConnection(
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
): void {
  if (outgoing.socket) return;
  const waiting = waitingResponses.get(socket) ?? createWaitingResponses(socket);
  waiting.add(outgoing);
  outgoing.once("close", () => waiting.delete(outgoing));
}

function createWaitingResponses(socket: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  waitingResponses.set(socket, waiting);
  socket.once("close", () => {
    for (const response of waiting) {
      if (response.destroyed) continue;
      // Node.js 24 also emits `close` in the method `destroy`.
      response.destroyed = true;
      response.emit("close");
    }
  });
  return waiting;
}

/** Returns `latin1` if the text is ASCII, because Node writes `latin1` text much faster than `utf8` text. */
function selectResponseTextEncoding(
  text: string,
  byteLength: number = Buffer.byteLength(text),
): "latin1" | "utf8" {
  return byteLength === text.length ? "latin1" : "utf8";
}

type ResponseHead = Pick<HttpReply, "status" | "headers">;

/**
 * Writes a response body to a `node:http` response. Bytes that wait for the client count in the byte account of the
 * request. A client that takes no byte for too long is disconnected.
 */
export class NodeResponseSink implements ResponseSink {
  readonly #outgoing: ServerResponse;
  readonly #request: Pick<HttpRequest, "byteAccount">;
  readonly #stallWatch: WriteStallWatch | undefined;
  #head: ResponseHead | undefined;
  /** Why the server itself has ended the connection. */
  #interruption: StreamInterruption | undefined;
  /** Number of characters of the current text that follow after the current slice. */
  #laterLength = 0;

  /** The sink writes `head` with the first text. Without `head`, the caller has written the headers. */
  constructor(
    outgoing: ServerResponse,
    request: Pick<HttpRequest, "byteAccount">,
    stallWatch?: WriteStallWatch,
    head?: ResponseHead,
  ) {
    this.#head = head;
    this.#outgoing = outgoing;
    this.#request = request;
    this.#stallWatch = stallWatch;
    // Without a listener, a write error after a disconnect would end the process.
    outgoing.on("error", () => outgoing.destroy());
  }

  /** True if the connection has ended. */
  get isDestroyed(): boolean {
    return this.#outgoing.destroyed;
  }

  reserve(bytes: number): A2AError | undefined {
    const account = this.#request.byteAccount;
    if (account && !account.tryReservePendingBytes(bytes)) return account.createRefusal("responses");
    return undefined;
  }

  write(data: string | Uint8Array): Promise<void> | undefined {
    // The client must take a slice within the time limit, and cannot take a text of any length.
    if (typeof data === "string" && data.length > MAX_WRITE_LENGTH) return this.#writeInSlices(data);
    return this.#write(data);
  }

  async #writeInSlices(text: string): Promise<void> {
    this.#laterLength = text.length;
    for (const slice of iterateSlices(text)) {
      if (this.isDestroyed) break;
      this.#laterLength -= slice.length;
      await this.#write(slice);
      // A socket can take several slices within one turn of the event loop. Nothing follows the last slice.
      if (this.#laterLength > 0) await new Promise(setImmediate);
    }
    this.#laterLength = 0;
    this.#request.byteAccount?.tryReservePendingBytes(0);
  }

  #write(data: string | Uint8Array): Promise<void> | undefined {
    const outgoing = this.#outgoing;
    this.#writeHead();
    const isTaken =
      typeof data === "string"
        ? outgoing.write(data, selectResponseTextEncoding(data))
        : outgoing.write(data);
    if (!isTaken && !outgoing.destroyed) return this.#waitUntilTaken("drain");
    this.#request.byteAccount?.tryReservePendingBytes(this.#laterLength);
    return undefined;
  }

  /** A body of one text has a length, because Node writes a chunked body in five parts. */
  end(lastText = ""): void {
    const byteLength = Buffer.byteLength(lastText);
    this.#writeHead(byteLength);
    this.#outgoing.end(lastText, selectResponseTextEncoding(lastText, byteLength));
    this.watchUnfinishedEnd();
  }

  #writeHead(contentLength?: number): void {
    const head = this.#head;
    if (!head) return;
    this.#head = undefined;
    const { status, headers } = head;
    this.#outgoing.writeHead(
      status,
      contentLength === undefined ? headers : { ...headers, "content-length": contentLength },
    );
  }

  /** Accounts for the last bytes of an ended response until the client has taken them. */
  watchUnfinishedEnd(): void {
    const outgoing = this.#outgoing;
    if (outgoing.writableLength > 0 && !outgoing.destroyed) void this.#waitUntilTaken("finish");
  }

  onClose(callback: (interruption?: StreamInterruption) => void): void {
    const report = (): void => callback(this.#findInterruption());
    // A destroyed response emits no further `close` event.
    if (this.#outgoing.destroyed) report();
    else this.#outgoing.once("close", report);
  }

  /**
   * Returns why the connection ended before the response. A client that closes the connection in good order sends FIN,
   * which causes no error. A broken connection causes an error such as `ECONNRESET`.
   */
  #findInterruption(): StreamInterruption | undefined {
    if (this.#interruption || this.#outgoing.writableFinished) return this.#interruption;
    const { errored } = this.#outgoing.req.socket;
    if (!errored) return { reason: "canceled" };
    return { reason: "cut", error: "code" in errored ? String(errored.code) : errored.message };
  }

  /** Accounts for the bytes that the client has not taken, until `event` or the end of the connection. */
  #waitUntilTaken(event: "drain" | "finish"): Promise<void> {
    const outgoing = this.#outgoing;
    const { byteAccount } = this.#request;
    if (byteAccount && !byteAccount.tryReservePendingBytes(outgoing.writableLength + this.#laterLength)) {
      byteAccount.close();
      this.#interruption = { reason: "cut", error: "RESOURCE_EXHAUSTED" };
      outgoing.destroy();
      return Promise.resolve();
    }
    let stopWatch: (() => void) | undefined;
    const startWatch = (): void => {
      const holder = byteAccount?.holder ?? { remoteAddress: undefined };
      stopWatch = this.#stallWatch?.watch(holder, () => {
        this.#interruption = { reason: "stalled" };
        outgoing.destroy();
      });
    };
    // The response to a pipelined request has no socket until the previous response ends.
    if (outgoing.socket) startWatch();
    else outgoing.once("socket", startWatch);
    return new Promise((resolve) => {
      const resume = (): void => {
        outgoing.off(event, resume);
        outgoing.off("close", resume);
        outgoing.off("socket", startWatch);
        stopWatch?.();
        byteAccount?.tryReservePendingBytes(this.#laterLength);
        resolve();
      };
      outgoing.on(event, resume);
      outgoing.on("close", resume);
    });
  }
}
