import { A2AError, parseHostAndPort } from "../protocol/index.ts";
import type { HttpRequest } from "./http-exchange.ts";
import type { CorsOptions } from "./server-options.ts";

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

/** Returns the origins whose pages may send state-changing requests. */
export function joinAllowedOrigins(
  allowedOrigins: readonly string[] | "*" = [],
  cors: Pick<CorsOptions, "origins"> = { origins: [] },
): readonly string[] | "*" {
  return allowedOrigins === "*" || cors.origins === "*" ? "*" : [...allowedOrigins, ...cors.origins];
}
