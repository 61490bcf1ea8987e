import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { getBareHostname, HostList, isPublicAddress } from "./network-address.ts";
import { DnsLookupQueue, type HostResolver } from "./dns-lookup-queue.ts";

export interface WebhookUrlGuardOptions {
  /** The only receivers that are allowed: names, names below one (`*.example.com`), addresses, networks. Default: any. */
  readonly allowedHosts?: readonly string[];
  /**
   * Receivers that may lie in a private network, on this machine included: all of them, or those of a list like `allowedHosts`.
   * Default: none.
   */
  readonly allowPrivate?: boolean | readonly string[];
  /** All addresses of a host name. Default: the system's resolver, two names at once. */
  readonly resolve?: HostResolver;
}

/** A receiver that may not be sent anything: to try again can not help. */
export class WebhookNotAllowedError extends Error {
  override readonly name: string = "NotAllowed";
  /** What is wrong with the URL, in words that follow its field's name. */
  readonly description: string;

  constructor(description: string) {
    super(`The webhook's URL ${description}.`);
    this.description = description;
  }
}

const MAX_URL_LENGTH = 2048;

/**
 * Keeps push notifications from places that strangers must not have this server send requests to (A2A §13.2): the
 * networks that it stands in, and itself. What a name means is asked anew for each connection, which then goes to an
 * address that was judged: whoever answers differently the next time (DNS rebinding) gains nothing.
 */
export class WebhookUrlGuard {
  readonly #allowedHosts: HostList | undefined;
  readonly #allowPrivate: boolean | HostList;
  readonly #resolve: HostResolver;

  constructor({
    allowedHosts: allow,
    allowPrivate = false,
    resolve = systemLookupQueue.resolve,
  }: WebhookUrlGuardOptions = {}) {
    this.#allowedHosts = allow && new HostList(allow);
    this.#allowPrivate = typeof allowPrivate === "boolean" ? allowPrivate : new HostList(allowPrivate);
    this.#resolve = resolve;
  }

  /** What is wrong with a receiver's URL by itself, in words that follow its field's name; undefined when nothing is. */
  findUrlViolation(text: string): string | undefined {
    const url = text.length <= MAX_URL_LENGTH && URL.parse(text);
    if (!url)
      return `must be an absolute URL of at most ${MAX_URL_LENGTH} characters, such as "https://example.com/hook"`;
    if (url.protocol !== "https:" && url.protocol !== "http:") return `must begin with https:// or http://`;
    if (url.username !== "" || url.password !== "")
      return `must have no user name in it; give "authentication" instead`;
    const host = getBareHostname(url);
    if (isIP(host) > 0) return this.#findAddressViolation(host, [host]);
    if (isLocalhostName(host) && !this.#isPrivateAllowed(host, [])) return formatPrivateViolation(host);
    return undefined;
  }

  /** The addresses to which a request to that host may go; rejects with `WebhookNotAllowedError` when one of them is forbidden. */
  async resolveAllowedAddresses(hostname: string): Promise<readonly string[]> {
    const host = hostname.replace(/\.$/, "");
    const addresses = isIP(host) > 0 ? [host] : await this.#resolve(host);
    const refusal = this.#findAddressViolation(host, addresses);
    if (refusal !== undefined) throw new WebhookNotAllowedError(refusal);
    if (addresses.length === 0) throw new Error(`${host} has no address`);
    return addresses;
  }

  /** Every address must be allowed: which of them a connection takes is chance. */
  #findAddressViolation(host: string, addresses: readonly string[]): string | undefined {
    const allow = this.#allowedHosts;
    if (allow && !allow.hasName(host) && !addresses.every((address) => allow.hasAddress(address)))
      return `names ${host}, which is not among the receivers that this server allows`;
    if (addresses.every(isPublicAddress) || this.#isPrivateAllowed(host, addresses)) return undefined;
    return formatPrivateViolation(host);
  }

  #isPrivateAllowed(host: string, addresses: readonly string[]): boolean {
    const list = this.#allowPrivate;
    if (typeof list === "boolean") return list;
    if (list.hasName(host)) return true;
    return (
      addresses.length > 0 &&
      addresses.every((address) => isPublicAddress(address) || list.hasAddress(address))
    );
  }
}

function isLocalhostName(host: string): boolean {
  return host === "" || host === "localhost" || host.endsWith(".localhost");
}

/** Does not say what the name stands for: that is nobody's business who can not ask for it himself. */
function formatPrivateViolation(host: string): string {
  return `names ${host}, which is in a private network; use a receiver on the public internet, or have the server's operator allow it (push.allowPrivate)`;
}

/** One for all guards, as the threads are that it keeps free. */
const systemLookupQueue = new DnsLookupQueue({
  resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
});
