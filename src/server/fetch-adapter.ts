import { decodeBodyText, createPayloadTooLargeError } from "./request-body.ts";
import type { HttpReply, HttpRequest, ResponseSink } from "./http-exchange.ts";

/** Adapts a WHATWG `Request` to `HttpRequest`. */
export class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string | undefined;
  readonly #url: URL;
  readonly #request: Request;

  constructor(request: Request, remoteAddress?: string) {
    const url = new URL(request.url);
    this.#url = url;
    this.#request = request;
    this.method = request.method;
    this.path = url.pathname;
    this.query = url.search.slice(1);
    this.remoteAddress = remoteAddress;
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
    const chunks: Uint8Array[] = [];
    let size = 0;
    // Web streams are async iterable in every supported runtime, but not in the DOM types.
    for await (const chunk of (this.#request.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) throw createPayloadTooLargeError(maxBytes);
      chunks.push(chunk);
    }
    const text = decodeBodyText(Buffer.concat(chunks));
    if (typeof text === "string") return text;
    throw text;
  }
}

export function toFetchResponse({ status, headers, body }: HttpReply, { method }: HttpRequest): Response {
  if (method === "HEAD" || body === undefined) return new Response(null, { status, headers });
  if (typeof body === "string") return new Response(body, { status, headers });
  return new Response(createBodyStream(body), { status, headers });
}

function createBodyStream(write: (sink: ResponseSink) => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let resumeWrites: (() => void) | undefined;
  let closed = false;
  const callbacks: (() => void)[] = [];
  const close = (): void => {
    closed = true;
    resumeWrites?.();
    for (const callback of callbacks.splice(0)) callback();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      write({
        write(text) {
          if (closed) return undefined;
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) > 0) return undefined;
          return new Promise((resolve) => {
            resumeWrites = resolve;
          });
        },
        end() {
          if (closed) return;
          controller.close();
          close();
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
    cancel: close,
  });
}
