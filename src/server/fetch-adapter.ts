import type { ByteAccount, ByteLedger } from "./byte-ledger/byte-ledger.ts";
import type { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import type { HttpReply, HttpRequest, ResponseSink } from "./http-exchange.ts";
import { RequestBodyBuffer, decodeBodyText, createPayloadTooLargeError } from "./request-body.ts";
import type { StreamInterruption } from "../engine/index.ts";
import type { A2AError } from "../protocol/index.ts";

/** Adapts a WHATWG `Request` to `HttpRequest`. */
export class FetchRequest implements HttpRequest {
  readonly method: string;
  path: string;
  basePath = "";
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
    return (host === undefined ? this.#url.origin : `${this.#url.protocol}//${host}`) + this.basePath;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  onDisconnect(callback: () => void): () => void {
    const { signal } = this.#request;
    if (signal.aborted) callback();
    else signal.addEventListener("abort", callback, { once: true });
    return () => signal.removeEventListener("abort", callback);
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
  byteAccount?.close();
  if (typeof body === "function" || body === "" || method === "HEAD")
    return new Response(null, { status, headers });
  return new Response(body, { status, headers });
}

/**
 * Creates the body of a `Response` from a function that writes to a sink. Bytes that the host does not read count in the
 * account. If the host reads nothing for too long, the body fails and the account is closed.
 */
function createFetchBodyStream(
  write: (sink: ResponseSink) => void,
  account: ByteAccount | undefined,
  stallWatch: WriteStallWatch | undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const callbacks: ((interruption?: StreamInterruption) => void)[] = [];
  let resumeWrites: (() => void) | undefined;
  let closed = false;
  const close = (interruption?: StreamInterruption): void => {
    closed = true;
    resumeWrites?.();
    account?.close();
    for (const callback of callbacks.splice(0)) callback(interruption);
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const fail = (interruption: StreamInterruption): void => {
        controller.error(new Error("The response was not read in time; send the request again."));
        close(interruption);
      };
      write({
        reserve(bytes): A2AError | undefined {
          const isRefused = account?.tryReservePendingBytes(bytes) === false;
          return isRefused ? account?.createRefusal("responses") : undefined;
        },
        write(text) {
          if (closed) return undefined;
          const bytes = encoder.encode(text);
          controller.enqueue(bytes);
          if ((controller.desiredSize ?? 0) > 0) {
            account?.tryReservePendingBytes(0);
            return undefined;
          }
          if (account?.tryReservePendingBytes(bytes.length) === false) {
            fail({ reason: "cut", error: "RESOURCE_EXHAUSTED" });
            return undefined;
          }
          const stopWatch = stallWatch?.watch(account?.holder ?? { remoteAddress: undefined }, () =>
            fail({ reason: "stalled" }),
          );
          // A heartbeat does not wait, so several writes can wait at once.
          const resumeEarlierWrites = resumeWrites;
          return new Promise((resolve) => {
            resumeWrites = (): void => {
              resumeWrites = undefined;
              resumeEarlierWrites?.();
              stopWatch?.();
              account?.tryReservePendingBytes(0);
              resolve();
            };
          });
        },
        end(lastText = "") {
          const taken = lastText === "" ? undefined : this.write(lastText);
          if (taken) void taken.then(() => this.end());
          else if (!closed) {
            controller.close();
            close();
          }
        },
        onClose(callback) {
          if (closed) callback();
          else callbacks.push(callback);
        },
      });
    },
    pull() {
      resumeWrites?.();
    },
    cancel: () => close({ reason: "canceled" }),
  });
}
