import { defineOptionNames } from "../usage-checks/index.ts";
import type { HttpReply, HttpRequest } from "./http-exchange.ts";

/** Options for pages of other origins. */
export interface CorsOptions {
  /** Origins of the pages, such as `https://shop.example`, or `*` for all pages. */
  readonly origins: readonly string[] | "*";
  /**
   * Whether pages may send the cookies and TLS client certificates of the browser. Bearer tokens and API keys need no
   * such permission. Requires a list of origins. Default: false.
   */
  readonly credentials?: boolean;
  /** Whether pages of public websites may call a server in a private network. Default: false. */
  readonly privateNetwork?: boolean;
  /** Time in seconds for which browsers keep the answer to a preflight request. Default: 600. */
  readonly maxAgeSeconds?: number;
}

const assertKnownOptions = defineOptionNames<CorsOptions>()(
  '"cors" of createServer',
  "credentials maxAgeSeconds origins privateNetwork",
);

/** Response headers that A2A clients read, in addition to those that every page can read. */
const EXPOSED_HEADERS =
  "A2A-Extensions, A2A-Version, Allow, ETag, Location, Retry-After, WWW-Authenticate, X-A2A-Extensions";
const ALLOWED_METHODS = "GET, HEAD, POST, DELETE";
const DEFAULT_MAX_AGE_SECONDS = 600;

/** Answers the CORS questions of browsers (Fetch standard §3.3) for pages of other origins. */
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

/** Throws an error if an option is invalid, because types do not protect untyped code. */
export function assertValidCorsOptions(cors: CorsOptions): void {
  assertKnownOptions(cors);
  const { origins, credentials, maxAgeSeconds = 0 } = cors;
  if (!isOriginList(origins) || origins.length === 0)
    throw new Error(
      `"cors.origins" is ${JSON.stringify(origins)}; use "*" or a list such as ["https://shop.example"].`,
    );
  if (origins === "*" && credentials)
    throw new Error(
      `"cors.credentials" requires a list of origins, because any page could use the user's cookies; list the origins.`,
    );
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 0)
    throw new Error(
      `"cors.maxAgeSeconds" is ${JSON.stringify(maxAgeSeconds)}; use a whole number of seconds.`,
    );
}

/** A URL with a path never equals an `Origin` header, so the option would have no effect. */
export function isOriginList(origins: unknown): boolean {
  return (
    origins === "*" || (Array.isArray(origins) && origins.every((one) => URL.parse(one)?.origin === one))
  );
}

/** Returns the origins whose pages may send state-changing requests. */
export function joinAllowedOrigins(
  allowedOrigins: readonly string[] | "*" = [],
  cors: Pick<CorsOptions, "origins"> = { origins: [] },
): readonly string[] | "*" {
  return allowedOrigins === "*" || cors.origins === "*" ? "*" : [...allowedOrigins, ...cors.origins];
}
