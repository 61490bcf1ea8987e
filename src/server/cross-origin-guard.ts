import { A2AError, parseHostAndPort } from "../protocol/index.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { defineOptionNames } from "../base/usage-checks/index.ts";

/** HTTP methods that change nothing (RFC 9110 §9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Rejects state-changing requests that a web page of another origin makes a browser send (cross-site request
 * forgery). Browsers declare the origin in the headers `Sec-Fetch-Site` and `Origin`. Other clients do not send
 * these headers, and are not affected.
 */
export class CrossOriginGuard {
  readonly #allowedOrigins: Set<string>;
  readonly #isAnyAllowed: boolean;

  /** The web pages of `publicUrl` have the origin of the server, even if a proxy changes the Host header. */
  constructor(allowedOrigins: readonly string[] | "*" = [], publicUrl?: string) {
    this.#isAnyAllowed = allowedOrigins === "*";
    this.#allowedOrigins = new Set(typeof allowedOrigins === "string" ? [] : allowedOrigins);
    if (publicUrl !== undefined) this.#allowedOrigins.add(new URL(publicUrl).origin);
  }

  /**
   * Throws PERMISSION_DENIED if a browser sent a state-changing request for a web page of another origin. A
   * page on another port of this machine has another origin, too.
   */
  assertAllowed(request: Pick<HttpRequest, "method" | "authority" | "header">): void {
    if (SAFE_METHODS.has(request.method)) return;
    const site = request.header("sec-fetch-site");
    const origin = request.header("origin");
    if (site === undefined && origin === undefined) return;
    if (this.#isAnyAllowed || (origin !== undefined && this.#allowedOrigins.has(origin))) return;
    // Old browsers send only Origin. Its scheme may differ behind a proxy that adds TLS.
    const isSameOrigin =
      site === undefined
        ? isSameHostAndPort(origin, request.authority)
        : site === "same-origin" || site === "none";
    if (isSameOrigin) return;
    const page = origin === undefined ? "" : ` ${JSON.stringify(origin.slice(0, 100))}`;
    throw new A2AError(
      "PERMISSION_DENIED",
      `A web page of another origin${page} sent this request; add the origin to "cors.origins" or "allowedOrigins" of the server if you trust the page.`,
    );
  }
}

function isSameHostAndPort(origin: string | undefined, authority: string | undefined): boolean {
  const url = origin === undefined ? undefined : URL.parse(origin);
  const own = authority === undefined ? undefined : parseHostAndPort(authority);
  return (
    url != null &&
    own !== undefined &&
    url.host === URL.parse(`${url.protocol}//${own.hostname}:${own.port}`)?.host
  );
}

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
