import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { bareHost, HostList, isPublicAddress } from "./address.ts";
import { Lookups, type Resolve } from "./lookups.ts";

export interface GuardOptions {
  /** The only receivers that are allowed: names, names below one (`*.example.com`), addresses, networks. Default: any. */
  readonly allow?: readonly string[];
  /**
   * Receivers that may lie in a private network, on this machine included: all of them, or those of a list like `allow`.
   * Default: none.
   */
  readonly allowPrivate?: boolean | readonly string[];
  /** All addresses of a host name. Default: the system's resolver, two names at once. */
  readonly resolve?: Resolve;
}

/** A receiver that may not be sent anything: to try again can not help. */
export class NotAllowed extends Error {
  override readonly name: string = "NotAllowed";
  /** What is wrong with the URL, in words that follow its field's name. */
  readonly description: string;

  constructor(description: string) {
    super(`The webhook's URL ${description}.`);
    this.description = description;
  }
}

const MAX_URL = 2048;

/**
 * Keeps push notifications from places that strangers must not have this server send requests to (A2A §13.2): the
 * networks that it stands in, and itself. What a name means is asked anew for each connection, which then goes to an
 * address that was judged: whoever answers differently the next time (DNS rebinding) gains nothing.
 */
export class Guard {
  readonly #allow: HostList | undefined;
  readonly #private: boolean | HostList;
  readonly #resolve: Resolve;

  constructor({ allow, allowPrivate = false, resolve = system.resolve }: GuardOptions = {}) {
    this.#allow = allow && new HostList(allow);
    this.#private = typeof allowPrivate === "boolean" ? allowPrivate : new HostList(allowPrivate);
    this.#resolve = resolve;
  }

  /** What is wrong with a receiver's URL by itself, in words that follow its field's name; undefined when nothing is. */
  checkUrl(text: string): string | undefined {
    const url = text.length <= MAX_URL && URL.parse(text);
    if (!url)
      return `must be an absolute URL of at most ${MAX_URL} characters, such as "https://example.com/hook"`;
    if (url.protocol !== "https:" && url.protocol !== "http:") return `must begin with https:// or http://`;
    if (url.username !== "" || url.password !== "")
      return `must have no user name in it; give "authentication" instead`;
    const host = bareHost(url);
    if (isIP(host) > 0) return this.#refusalOf(host, [host]);
    if (isLocalName(host) && !this.#mayBePrivate(host, [])) return forbidden(host);
    return undefined;
  }

  /** The addresses to which a request to that host may go; rejects with `NotAllowed` when one of them is forbidden. */
  async addressesOf(hostname: string): Promise<readonly string[]> {
    const host = hostname.replace(/\.$/, "");
    const addresses = isIP(host) > 0 ? [host] : await this.#resolve(host);
    const refusal = this.#refusalOf(host, addresses);
    if (refusal !== undefined) throw new NotAllowed(refusal);
    if (addresses.length === 0) throw new Error(`${host} has no address`);
    return addresses;
  }

  /** Every address must be allowed: which of them a connection takes is chance. */
  #refusalOf(host: string, addresses: readonly string[]): string | undefined {
    const allow = this.#allow;
    if (allow && !allow.hasName(host) && !addresses.every((address) => allow.hasAddress(address)))
      return `names ${host}, which is not among the receivers that this server allows`;
    if (addresses.every(isPublicAddress) || this.#mayBePrivate(host, addresses)) return undefined;
    return forbidden(host);
  }

  #mayBePrivate(host: string, addresses: readonly string[]): boolean {
    const list = this.#private;
    if (typeof list === "boolean") return list;
    if (list.hasName(host)) return true;
    return (
      addresses.length > 0 &&
      addresses.every((address) => isPublicAddress(address) || list.hasAddress(address))
    );
  }
}

function isLocalName(host: string): boolean {
  return host === "" || host === "localhost" || host.endsWith(".localhost");
}

/** Does not say what the name stands for: that is nobody's business who can not ask for it himself. */
function forbidden(host: string): string {
  return `names ${host}, which is in a private network; use a receiver on the public internet, or have the server's operator allow it (push.allowPrivate)`;
}

/** One for all guards, as the threads are that it keeps free. */
const system = new Lookups({
  resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
});
