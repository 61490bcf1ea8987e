import { A2AError, isLoopbackHost, isLoopbackName, parseHostAndPort } from "../protocol/index.ts";
import type { ServerOptions } from "./server-options.ts";

/**
 * Throws an error if the server would listen beyond loopback without authentication, unless
 * `allowUnauthenticated` is set. Throws an error if a server that signs agent cards would listen beyond
 * loopback without `publicUrl`.
 */
export function assertSafeToListenOnHost(
  host: string,
  options: Pick<ServerOptions, "authenticate" | "allowUnauthenticated" | "cardSigning" | "publicUrl">,
): void {
  if (isLoopbackHost(host)) return;
  if (options.cardSigning && options.publicUrl === undefined) {
    throw new Error(
      `The server does not sign cards on ${host} without "publicUrl": clients could choose the address in a signed ` +
        `card. Set "publicUrl" to the URL under which clients reach this server.`,
    );
  }
  if (options.authenticate || options.allowUnauthenticated) return;
  throw new Error(
    `The server does not listen on ${host}: other machines can reach it, and no authentication is configured. ` +
      `Set "authenticate", listen on 127.0.0.1, or set "allowUnauthenticated: true" to accept all requests.`,
  );
}

/**
 * Returns a warning if a server without authentication listens on loopback, and its public URL names another host. A proxy
 * then passes on the requests of everybody.
 */
export function findPublicUrlWarning(
  host: string,
  options: Pick<ServerOptions, "authenticate" | "allowUnauthenticated" | "publicUrl">,
): string | undefined {
  const { authenticate, allowUnauthenticated, publicUrl } = options;
  if (!isLoopbackHost(host) || authenticate || allowUnauthenticated || publicUrl === undefined)
    return undefined;
  const { hostname } = new URL(publicUrl);
  if (isLoopbackHost(hostname)) return undefined;
  return (
    `The public URL of the server names ${hostname}, and no authentication is configured: a proxy would let all callers ` +
    `use the agents. Set "authenticate", or set "allowUnauthenticated: true" to accept all requests.`
  );
}

/**
 * Checks the host that a request addresses, in the Host header or in a request target in absolute form. On a
 * server that listens on loopback, the guard prevents DNS rebinding. With DNS rebinding, a web page can make a
 * browser send requests to this machine. The Host header of these requests contains the web page's host name.
 */
export class HostHeaderGuard {
  readonly #publicHost: string | undefined;
  #acceptsOnlyLoopback = false;
  #lastAllowedAuthority: string | undefined;

  constructor(publicUrl: string | undefined) {
    this.#publicHost =
      publicUrl === undefined ? undefined : parseHostAndPort(new URL(publicUrl).host)?.hostname;
  }

  /** Makes the guard accept only loopback hosts and the host of `publicUrl`. */
  acceptOnlyLoopback(): void {
    this.#acceptsOnlyLoopback = true;
    this.#lastAllowedAuthority = undefined;
  }

  /**
   * Throws INVALID_REQUEST if `authority` is not `host[:port]` (RFC 9112 §3.2). Throws PERMISSION_DENIED if the
   * guard accepts only loopback, unless the host is a loopback host or the host of `publicUrl`. A request
   * without a host, which only HTTP/1.0 allows, has the authority `undefined`.
   */
  assertAllowed(authority: string | undefined): void {
    if (authority === this.#lastAllowedAuthority && authority !== undefined) return;
    const hostname = authority === undefined ? "" : parseHostAndPort(authority)?.hostname;
    if (hostname === undefined)
      throw new A2AError(
        "INVALID_REQUEST",
        `The Host header ${quoteAuthority(authority)} is invalid; send one host name or IP address, and optionally a port.`,
      );
    if (this.#acceptsOnlyLoopback && !this.#isOwnHost(hostname))
      throw new A2AError(
        "PERMISSION_DENIED",
        `This server listens on loopback and does not accept the Host header ${quoteAuthority(authority)}; set "publicUrl" if the server is published under that name.`,
      );
    this.#lastAllowedAuthority = authority;
  }

  #isOwnHost(hostname: string): boolean {
    return isLoopbackName(hostname) || hostname === this.#publicHost;
  }
}

function quoteAuthority(authority = ""): string {
  return JSON.stringify(authority.slice(0, 100));
}
