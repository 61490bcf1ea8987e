import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { getBareHostname, HostList } from "./host-list.ts";
import { isPublicAddress } from "./network-address.ts";
import { DnsLookupQueue, type HostResolver } from "./dns-lookup-queue.ts";

/** Rules for the webhook URLs that the server accepts. */
export interface WebhookUrlGuardOptions {
  /**
   * The only hosts to which notifications may be sent: names, domains (`*.example.com`), addresses, or
   * networks. Default: any host.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Hosts in private networks, including this machine, to which notifications may be sent: all of them
   * (`true`), or those in a list. Default: false.
   */
  readonly allowPrivate?: boolean | readonly string[];
  /**
   * Returns all addresses of a host name. Default: the system resolver, with at most two concurrent lookups.
   */
  readonly resolve?: HostResolver;
}

/** An error for a webhook to which the server must not send requests. A retry cannot succeed. */
export class WebhookNotAllowedError extends Error {
  override readonly name: string = "WebhookNotAllowedError";
  /** The problem with the URL, as a phrase that follows the field name. */
  readonly description: string;

  constructor(description: string) {
    super(`The webhook's URL ${description}.`);
    this.description = description;
  }
}

const MAX_URL_LENGTH = 2048;

/**
 * Prevents push notifications to hosts that a caller must not reach through this server (A2A §13.2): private
 * networks and the server itself. The guard resolves and checks a host name for each connection, and the
 * connection uses a checked address. Checking each connection prevents DNS rebinding, where a name server
 * returns another address the second time.
 */
export class WebhookUrlGuard {
  readonly #allowedHosts: HostList | undefined;
  readonly #allowPrivate: boolean | HostList;
  readonly #resolve: HostResolver;

  constructor({
    allowedHosts,
    allowPrivate = false,
    resolve = systemLookupQueue.resolve,
  }: WebhookUrlGuardOptions = {}) {
    this.#allowedHosts = allowedHosts && new HostList(allowedHosts);
    this.#allowPrivate = typeof allowPrivate === "boolean" ? allowPrivate : new HostList(allowPrivate);
    this.#resolve = resolve;
  }

  /**
   * Returns the problem with a webhook URL, as a phrase that follows the field name, or `undefined` for an
   * allowed URL. Does not resolve host names.
   */
  findUrlViolation(text: string): string | undefined {
    const url = text.length <= MAX_URL_LENGTH && URL.parse(text);
    if (!url)
      return `must be an absolute URL of at most ${MAX_URL_LENGTH} characters, such as "https://example.com/hook"`;
    if (url.protocol !== "https:" && url.protocol !== "http:") return `must begin with https:// or http://`;
    if (url.username !== "" || url.password !== "")
      return `must not contain a user name or password; use "authentication" instead`;
    const host = getBareHostname(url);
    if (isIP(host) > 0) return this.#findAddressViolation(host, [host]);
    if (isLocalhostName(host) && !this.#isPrivateAllowed(host, [])) return formatPrivateViolation(host);
    return undefined;
  }

  /**
   * Returns the addresses of a host. Rejects with `WebhookNotAllowedError` when one of the addresses is not
   * allowed.
   */
  async resolveAllowedAddresses(hostname: string): Promise<readonly string[]> {
    const host = hostname.replace(/\.$/, "");
    const addresses = isIP(host) > 0 ? [host] : await this.#resolve(host);
    const violation = this.#findAddressViolation(host, addresses);
    if (violation !== undefined) throw new WebhookNotAllowedError(violation);
    if (addresses.length === 0) throw new Error(`${host} has no address`);
    return addresses;
  }

  /**
   * Returns the problem with a host. Every address of the host must be allowed, because a connection may use
   * any of the addresses.
   */
  #findAddressViolation(host: string, addresses: readonly string[]): string | undefined {
    const allowed = this.#allowedHosts;
    if (allowed && !allowed.hasName(host) && !addresses.every((address) => allowed.hasAddress(address)))
      return `names the host ${host}, which is not among the hosts that this server allows`;
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

/**
 * Returns the problem with a private host. The message omits the resolved addresses, which may be
 * confidential.
 */
function formatPrivateViolation(host: string): string {
  return `names the host ${host}, which is in a private network; use a host on the public internet, or ask the server operator to allow it (push.allowPrivate)`;
}

/** The DNS lookup queue that all URL guards share, because they share the threads of the process. */
const systemLookupQueue = new DnsLookupQueue({
  resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
});
