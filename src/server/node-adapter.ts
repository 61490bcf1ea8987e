import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import { A2AError } from "../protocol/index.ts";
import { decodeBodyText, createPayloadTooLargeError } from "./request-body.ts";
import type { ClientCertificate, HttpReply, HttpRequest, ResponseSink } from "./http-exchange.ts";

/** What a client asked for. Express takes off `url` the path at which it has found a listener, and keeps the whole. */
export function getOriginalUrl(
  incoming: IncomingMessage & { readonly originalUrl?: unknown },
): string | undefined {
  return typeof incoming.originalUrl === "string" ? incoming.originalUrl : incoming.url;
}

/** A Node request without the cost of a `Request`. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #incoming: IncomingMessage;

  constructor(incoming: IncomingMessage, url: string = incoming.url ?? "/") {
    this.#incoming = incoming;
    this.method = incoming.method ?? "GET";
    const mark = url.indexOf("?");
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? "" : url.slice(mark + 1);
  }

  get origin(): string {
    const encrypted = "encrypted" in this.#incoming.socket;
    return `${encrypted ? "https" : "http"}://${this.header("host") ?? "localhost"}`;
  }

  /** Looks among the headers as they came: four look-ups cost less than the object that Node would make of them all. */
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

  /** Only one that TLS has verified. */
  certificate(): ClientCertificate | undefined {
    const { socket } = this.#incoming;
    return socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  }
}

/**
 * The body of a request that a parser of the host has read before us: the bytes, where it keeps them (cloud functions do,
 * as `rawBody`), or what it has made of them (`express.json()`).
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

/** By events, because async iteration over a request costs a multiple of that. */
function readBodyText(incoming: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (text: string | A2AError): void => {
      if (typeof text === "string") resolve(text);
      else reject(text);
    };
    if (incoming.readableEnded) {
      const kept = getBufferedBody(incoming);
      if (kept) settle(kept.length > maxBytes ? createPayloadTooLargeError(maxBytes) : decodeBodyText(kept));
      else
        reject(
          new Error("Something has read the request's body before; mount the listener before body parsers."),
        );
      return;
    }
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // What comes after is read and dropped, so that the client reads our answer instead of a reset connection.
      if (size > maxBytes) more = undefined;
      else if (first) (more ??= [first]).push(chunk);
      else first = chunk;
    });
    incoming.on("end", () => {
      const whole = more ? Buffer.concat(more) : (first ?? Buffer.alloc(0));
      settle(size > maxBytes ? createPayloadTooLargeError(maxBytes) : decodeBodyText(whole));
    });
    incoming.on("error", (cause) => {
      reject(new A2AError("PARSE_ERROR", "The request ended in the middle of its body.", { cause }));
    });
  });
}

/** Sends an answer; a HEAD request gets the headers only. */
export function sendReply(reply: HttpReply, request: HttpRequest, outgoing: ServerResponse): void {
  const { status, headers, body } = reply;
  if (typeof body === "function" && request.method !== "HEAD") {
    outgoing.writeHead(status, headers);
    body(new NodeResponseSink(outgoing));
    return;
  }
  // A 304 must not give the length of what it does not send (RFC 9110 §8.6).
  if (status === 304) {
    outgoing.writeHead(status, headers).end();
    return;
  }
  const text = typeof body === "string" ? body : "";
  outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
  outgoing.end(request.method === "HEAD" ? undefined : text, selectEncoding(text));
}

/** Text of one byte per character is ASCII, and much cheaper to write when Node knows that. */
function selectEncoding(text: string): "latin1" | "utf8" {
  return Buffer.byteLength(text) === text.length ? "latin1" : "utf8";
}

class NodeResponseSink implements ResponseSink {
  readonly #outgoing: ServerResponse;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
    // Without a listener a write to a client that has left would end the process.
    outgoing.on("error", () => outgoing.destroy());
  }

  write(text: string): Promise<void> | undefined {
    const outgoing = this.#outgoing;
    if (outgoing.write(text, selectEncoding(text)) || outgoing.destroyed) return undefined;
    return new Promise((resolve) => {
      const go = (): void => {
        outgoing.off("drain", go);
        outgoing.off("close", go);
        resolve();
      };
      outgoing.on("drain", go);
      outgoing.on("close", go);
    });
  }

  end(): void {
    this.#outgoing.end();
  }

  onClose(callback: () => void): void {
    // A client that has left already is not announced again.
    if (this.#outgoing.destroyed) callback();
    else this.#outgoing.once("close", callback);
  }
}
