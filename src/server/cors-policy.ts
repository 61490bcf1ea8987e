import type { CorsOptions } from "./server-options.ts";
import type { HttpReply, HttpRequest } from "./http-exchange.ts";

/** Response headers that A2A clients read, in addition to those that every page can read. */
const EXPOSED_HEADERS =
  "A2A-Extensions, A2A-Version, Allow, ETag, Location, Retry-After, WWW-Authenticate, X-A2A-Extensions";
const ALLOWED_METHODS = "GET, HEAD, POST, DELETE";
const DEFAULT_MAX_AGE_SECONDS = 600;

/** Answers the preflight requests of browsers (Fetch standard §3.3) for pages of other origins, and adds CORS headers. */
export class CorsPolicy {
  readonly #options: CorsOptions;
  readonly #origins: ReadonlySet<string>;

  constructor(options: CorsOptions) {
    this.#options = options;
    this.#origins = new Set(options.origins === "*" ? [] : options.origins);
  }

  /** Answers a preflight request, or adds the CORS headers to the reply of `handle`, which can be an error. */
  async respond(request: HttpRequest, handle: () => Promise<HttpReply>): Promise<HttpReply> {
    const isPreflight =
      request.method === "OPTIONS" && request.header("access-control-request-method") !== undefined;
    if (isPreflight && this.#findAllowedOrigin(request) !== undefined) return this.#answerPreflight(request);
    const reply = await handle();
    return { ...reply, headers: withVary({ ...reply.headers, ...this.#buildHeaders(request) }, this.#vary) };
  }

  /** Each reply depends on the header `Origin`, also the reply to a request without the header. */
  get #vary(): string | undefined {
    return this.#options.origins === "*" ? undefined : "Origin";
  }

  /** Returns the origin for the reply, or `undefined` for requests of other clients and pages. */
  #findAllowedOrigin(request: HttpRequest): string | undefined {
    const origin = request.header("origin");
    if (origin === undefined) return undefined;
    if (this.#options.origins === "*") return "*";
    return this.#origins.has(origin) ? origin : undefined;
  }

  #buildHeaders(request: HttpRequest): Record<string, string> {
    const origin = this.#findAllowedOrigin(request);
    if (origin === undefined) return {};
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": EXPOSED_HEADERS,
      ...(this.#options.credentials ? { "access-control-allow-credentials": "true" } : {}),
    };
  }

  /** Allows the requested headers, because an authentication scheme can use any header. */
  #answerPreflight(request: HttpRequest): HttpReply {
    const { privateNetwork, maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS } = this.#options;
    const { "access-control-expose-headers": _, ...headers } = this.#buildHeaders(request);
    const requestedHeaders = request.header("access-control-request-headers") ?? "";
    const asksForPrivateNetwork = request.header("access-control-request-private-network") === "true";
    const vary = "Access-Control-Request-Headers, Access-Control-Request-Private-Network";
    request.byteAccount?.close();
    return {
      status: 204,
      headers: withVary(
        {
          ...headers,
          vary,
          "access-control-allow-methods": ALLOWED_METHODS,
          "access-control-max-age": String(maxAgeSeconds),
          ...(isHeaderNameList(requestedHeaders) ? { "access-control-allow-headers": requestedHeaders } : {}),
          ...(privateNetwork && asksForPrivateNetwork
            ? { "access-control-allow-private-network": "true" }
            : {}),
        },
        this.#vary,
      ),
    };
  }
}

function withVary(headers: Record<string, string>, name: string | undefined): Record<string, string> {
  if (name === undefined) return headers;
  const { vary } = headers;
  return { ...headers, vary: vary === undefined ? name : `${vary}, ${name}` };
}

/** The reply repeats the text, so it must consist of header names (RFC 9110 §5.6.2). */
function isHeaderNameList(text: string): boolean {
  return text.length <= 1000 && /^[\w!#$%&'*+.^`|~-]+(?: ?, ?[\w!#$%&'*+.^`|~-]+)*$/.test(text);
}
