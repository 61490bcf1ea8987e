import { A2AError } from "../protocol/index.ts";
import type { ServerOptions } from "./options.ts";

/**
 * Refuses an address that others can reach when nobody is authenticated, safe unless asked otherwise in words; and when
 * cards are signed that would have whatever address a request asks for.
 */
export function assertSafeBind(
  host: string,
  options: Pick<ServerOptions, "authenticate" | "allowUnauthenticated" | "cardSigning" | "publicUrl">,
): void {
  if (isLoopback(host)) return;
  if (options.cardSigning && options.publicUrl === undefined) {
    throw new Error(
      `Will not sign cards on ${host} without "publicUrl": they would vouch for whatever address a request asks for. ` +
        `Give the URL under which clients reach this server.`,
    );
  }
  if (options.authenticate || options.allowUnauthenticated) return;
  throw new Error(
    `Will not listen on ${host}: it can be reached from other machines and no authentication is configured. ` +
      `Give "authenticate", or say "allowUnauthenticated: true" if that is meant, or listen on 127.0.0.1.`,
  );
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Refuses requests that reach a loopback listener under a foreign name. A page of another site can make a browser send
 * them (DNS rebinding), and "only this machine" would no longer hold.
 */
export class HostHeaderGuard {
  readonly #publicHost: string | undefined;
  #lastAllowedHost = "";

  constructor(publicUrl: string | undefined) {
    this.#publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  }

  assertAllowed(host: string): void {
    if (host === this.#lastAllowedHost) return;
    const name = parseHostHeader(host);
    if (!isLoopback(name) && !name.endsWith(".localhost") && name !== this.#publicHost) {
      throw new A2AError(
        "PERMISSION_DENIED",
        `This server listens on loopback and does not answer for ${JSON.stringify(host.slice(0, 100))}; set publicUrl if it is published under that name.`,
      );
    }
    this.#lastAllowedHost = host;
  }
}

/** The name in a Host header, without the port. */
function parseHostHeader(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, "") : host;
}
