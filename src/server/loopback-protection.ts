import { isLoopbackHost } from "../keys/index.ts";
import { A2AError } from "../protocol/index.ts";
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
 * Checks the Host header of requests to a server that listens on loopback, to prevent DNS rebinding. With DNS
 * rebinding, a web page can make a browser send requests to this machine. The Host header of these requests
 * contains the web page's host name.
 */
export class HostHeaderGuard {
  readonly #publicHost: string | undefined;
  #lastAllowedHost = "";

  constructor(publicUrl: string | undefined) {
    this.#publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  }

  /**
   * Throws PERMISSION_DENIED unless the Host header contains a loopback host name or the host name of
   * `publicUrl`.
   */
  assertAllowed(host: string): void {
    if (host === this.#lastAllowedHost) return;
    const hostname = URL.parse(`http://${host}`)?.hostname ?? host;
    if (!isLoopbackHost(hostname) && !hostname.endsWith(".localhost") && hostname !== this.#publicHost) {
      const name = JSON.stringify(host.slice(0, 100));
      throw new A2AError(
        "PERMISSION_DENIED",
        `This server listens on loopback and does not accept the Host header ${name}; set "publicUrl" if the server is published under that name.`,
      );
    }
    this.#lastAllowedHost = host;
  }
}
