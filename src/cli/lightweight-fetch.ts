import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Readable } from "node:stream";

/** Observer of one HTTP exchange, for `--debug`. */
export interface FetchObserver {
  onRequest(method: string, url: URL, headers: readonly (readonly [string, string])[], body: string): void;
  onResponse(status: number, contentType: string): void;
  onChunk(chunk: Uint8Array): void;
  onResponseEnd(): void;
  onError(error: unknown): void;
}

interface LightweightFetchOptions {
  /** `false` accepts any certificate. Default: `true`. */
  readonly verifyCertificates?: boolean;
  /** TLS client certificate and its key in PEM format. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string } | undefined;
  readonly createObserver?: () => FetchObserver;
}

/**
 * Creates a `fetch` function from Node's HTTP modules, with only the features that the client uses. Node
 * takes 20 ms to load its built-in `fetch`, which doubles the start-up time. The built-in `fetch` also
 * requires another package to skip certificate verification.
 */
export function createLightweightFetch({
  verifyCertificates = true,
  clientCertificate,
  createObserver,
}: LightweightFetchOptions = {}): typeof fetch {
  const send = async (
    input: string | URL | Request,
    init: RequestInit = {},
  ): Promise<MinimalFetchResponse> => {
    const url = new URL(typeof input === "string" ? input : "href" in input ? input.href : input.url);
    const headers = toHeaderEntries(init.headers);
    // The client sends only text bodies.
    const body = typeof init.body === "string" ? init.body : "";
    const options: RequestOptions & { rejectUnauthorized?: boolean; cert?: string; key?: string } = {
      method: init.method ?? "GET",
      headers: { ...Object.fromEntries(headers), "accept-encoding": "identity" },
      ...(init.signal ? { signal: init.signal } : {}),
      ...(verifyCertificates ? {} : { rejectUnauthorized: false }),
      ...clientCertificate,
    };
    const watcher = createObserver?.();
    watcher?.onRequest(options.method as string, url, headers, body);
    try {
      const message = await sendNodeHttpRequest(openNodeHttpRequest(url, options), body);
      watcher?.onResponse(message.statusCode ?? 0, message.headers["content-type"] ?? "no content type");
      if (watcher)
        message
          .on("data", (chunk: Buffer) => watcher.onChunk(chunk))
          .once("close", () => watcher.onResponseEnd());
      const stream = Readable.toWeb(message) as ReadableStream<Uint8Array>;
      return new MinimalFetchResponse(message.statusCode ?? 0, message.headers, stream, url.href);
    } catch (cause) {
      watcher?.onError(cause);
      throw new TypeError("The server did not respond.", { cause });
    }
  };
  // `MinimalFetchResponse` has only the members of `Response` that the client uses. Redirects are never followed,
  // as the client requires.
  return send as unknown as typeof fetch;
}

/** Uses `process.getBuiltinModule`, because a static `import` of `node:http` would load Node's `fetch`. */
function openNodeHttpRequest(url: URL, options: RequestOptions): ClientRequest {
  if (url.protocol === "https:") return process.getBuiltinModule("node:https").request(url, options);
  if (url.protocol === "http:") return process.getBuiltinModule("node:http").request(url, options);
  throw new TypeError(`${url.protocol} is neither http: nor https:`);
}

function sendNodeHttpRequest(request: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve).on("error", reject).end(body);
  });
}

function toHeaderEntries(init: RequestInit["headers"] = {}): [string, string][] {
  return Symbol.iterator in init
    ? [...(init as Iterable<[string, string]>)]
    : Object.entries(init as Record<string, string>);
}

/** Creates a `fetch` response from a text without an HTTP request. */
export function createFetchResponseFromText(text: string): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
  return new MinimalFetchResponse(200, {}, body, "") as unknown as Response;
}

/** Members of `Response` that the client uses. */
class MinimalFetchResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly url: string;
  readonly type = "basic";
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array>;

  constructor(
    status: number,
    headers: IncomingMessage["headers"],
    body: ReadableStream<Uint8Array>,
    url: string,
  ) {
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.url = url;
    this.headers = {
      get: (name) => {
        const value = headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(", ") : (value ?? null);
      },
    };
    this.body = body;
  }
}
