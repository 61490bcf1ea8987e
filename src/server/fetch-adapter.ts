import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import type { ByteLedger } from "./byte-ledger/byte-ledger.ts";
import type { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import { createFetchBodyStream, createTextBodyStream } from "./fetch-body-stream.ts";
import type { HttpReply, HttpRequest } from "./http-exchange.ts";
import { RequestBodyBuffer } from "./request-body-buffer.ts";
import { decodeBodyText, createPayloadTooLargeError } from "./request-body.ts";
import { countResponseBytes } from "./response-reservation.ts";
import { isLongText } from "./write-text-in-slices.ts";

/** Adapts a WHATWG `Request` to `HttpRequest`. */
export class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string | undefined;
  readonly byteAccount: ByteAccount | undefined;
  readonly #url: URL;
  readonly #request: Request;

  /** Requests within the process have no byte ledger, because the outer request counts their bytes. */
  constructor(request: Request, remoteAddress?: string, byteLedger?: ByteLedger) {
    const url = new URL(request.url);
    this.#url = url;
    this.#request = request;
    this.method = request.method;
    this.path = url.pathname;
    this.query = url.search.slice(1);
    this.remoteAddress = remoteAddress;
    this.byteAccount = byteLedger?.openAccount(this);
  }

  get authority(): string {
    return this.header("host") ?? this.#url.host;
  }

  /**
   * The request origin with the host name from the Host header. In Next.js, the URL contains a different host
   * name.
   */
  get origin(): string {
    const host = this.header("host");
    return host === undefined ? this.#url.origin : `${this.#url.protocol}//${host}`;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  async text(maxBytes: number): Promise<string> {
    if (Number(this.header("content-length") ?? 0) > maxBytes) throw createPayloadTooLargeError(maxBytes);
    const body = new RequestBodyBuffer(maxBytes, this.byteAccount);
    try {
      // Web streams are async iterable in every supported runtime, but not in the DOM types. An error cancels the stream.
      for await (const chunk of (this.#request.body ?? []) as AsyncIterable<Uint8Array>) body.add(chunk);
      const text = decodeBodyText(body.toBytes());
      if (typeof text === "string") return text;
      throw text;
    } finally {
      body.release();
    }
  }
}

/** Returns a request whose body counts in the account while a mounted handler reads it. */
export function countRequestBody(request: Request, account: ByteAccount | undefined): Request {
  if (!request.body || !account) return request;
  const body = request.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        account.reserveBodyBytes(chunk.length);
        controller.enqueue(chunk);
      },
    }),
  );
  return new Request(request, { method: request.method, body, duplex: "half" });
}

export function toFetchResponse(
  { status, headers, body = "" }: HttpReply,
  { method, byteAccount }: HttpRequest,
  stallWatch?: WriteStallWatch,
): Response {
  if (typeof body === "function" && method !== "HEAD")
    return new Response(createFetchBodyStream(body, byteAccount, stallWatch), { status, headers });
  // The server counts the unread bytes of a long text.
  if (isLongText(body) && byteAccount && method !== "HEAD") {
    const pieces = typeof body === "string" ? [body] : body;
    const stream = createTextBodyStream(pieces, byteAccount, stallWatch);
    const contentLength = String(countResponseBytes(pieces));
    return new Response(stream, { status, headers: { ...headers, "content-length": contentLength } });
  }
  byteAccount?.close();
  if (typeof body === "function" || body === "" || method === "HEAD")
    return new Response(null, { status, headers });
  return new Response(typeof body === "string" ? body : body.join(""), { status, headers });
}
