import { isIP } from "node:net";
import { MAX_URL_LENGTH } from "../../protocol/index.ts";
import { hasBlockedPort } from "./blocked-ports.ts";
import { getBareHostname, HostList } from "./allowed-host-list.ts";
import { isPublicAddress } from "./network-address.ts";
import { DnsLookupQueue, type HostResolver } from "./dns-lookup-queue.ts";
import { nameServerLookups, operatingSystemLookups } from "./host-resolvers.ts";

/** Options that determine which webhook URLs the server accepts. */
export interface WebhookUrlGuardOptions {
  /**
   * Hosts that are allowed in webhook URLs. If set, all other hosts are rejected. Entries are host names,
   * domains (`*.example.com`), IP addresses, or networks. Default: any host.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Private hosts that are allowed in webhook URLs. Hosts on this machine are private hosts too. The value
   * `true` allows all private hosts, and a list allows the listed hosts. Default: false.
   */
  readonly allowPrivate?: boolean | readonly string[];
  /**
   * Returns all IP addresses of a host name. By default, the server queries the name servers of this machine directly,
   * without `/etc/hosts` and search domains. Host names that `allowPrivate` or `allowedHosts` list, and all host names
   * with `allowPrivate: true`, are resolved by the operating system.
   */
  readonly resolve?: HostResolver;
}

/** Permanent error for a webhook URL that is not allowed. */
export class WebhookNotAllowedError extends Error {
  override readonly name: string = "WebhookNotAllowedError";
  /**
   * Description of the problem with a webhook URL. The description is the part of the error message after the
   * field name.
   */
  readonly description: string;

  constructor(description: string) {
    super(`The webhook's URL ${description}.`);
    this.description = description;
  }
}

/**
 * Prevents push notifications to hosts that a caller must not reach through this server, such as hosts in
 * private networks (A2A §13.2). For each connection, the guard resolves the host name and checks all
 * addresses. These checks prevent DNS rebinding, where a name server returns a different address after the
 * first check.
 */
export class WebhookUrlGuard {
  readonly #allowedHosts: HostList | undefined;
  readonly #allowPrivate: boolean | HostList;
  /** Lookups with the resolver of the options. */
  readonly #customLookups: DnsLookupQueue | undefined;

  constructor({ allowedHosts, allowPrivate = false, resolve }: WebhookUrlGuardOptions = {}) {
    this.#allowedHosts = allowedHosts && new HostList(allowedHosts);
    this.#allowPrivate = typeof allowPrivate === "boolean" ? allowPrivate : new HostList(allowPrivate);
    this.#customLookups = resolve && new DnsLookupQueue({ resolve });
  }

  /**
   * Returns a description of the problem with a webhook URL, or `undefined` if the URL is allowed. Does not
   * resolve the host name.
   */
  findUrlViolation(text: string): string | undefined {
    const url = text.length <= MAX_URL_LENGTH && URL.parse(text);
    if (!url)
      return `must be an absolute URL of at most ${MAX_URL_LENGTH} characters, such as "https://example.com/hook"`;
    if (url.protocol !== "https:" && url.protocol !== "http:") return `must begin with https:// or http://`;
    if (url.username !== "" || url.password !== "")
      return `must not contain a user name or password; use "authentication" instead`;
    const host = getBareHostname(url);
    if (hasBlockedPort(url) && !this.#isPrivateAllowed(host, isIP(host) > 0 ? [host] : []))
      return `has the port ${url.port}, which belongs to another protocol; use a port of a web server, such as 443`;
    if (isIP(host) > 0) return this.#findAddressViolation(host, [host]);
    if (isLocalhostName(host) && !this.#isPrivateAllowed(host, [])) return formatPrivateViolation(host);
    return undefined;
  }

  /**
   * Like `findUrlViolation`, for runtimes on which the server does not resolve host names. `allowedHosts` then allows a
   * host only by its name.
   */
  findUrlViolationWithoutLookup(text: string): string | undefined {
    const violation = this.findUrlViolation(text);
    if (violation !== undefined || !this.#allowedHosts) return violation;
    const host = getBareHostname(new URL(text));
    return isIP(host) > 0 || this.#allowedHosts.hasName(host) ? undefined : formatUnlistedViolation(host);
  }

  /**
   * Returns the IP addresses of a host. The lookup uses the fair share of `owner`. Rejects with
   * `WebhookNotAllowedError` if any address is not allowed.
   */
  async resolveAllowedAddresses(hostname: string, owner: string): Promise<readonly string[]> {
    const host = hostname.replace(/\.$/, "");
    const addresses = isIP(host) > 0 ? [host] : await this.#selectLookups(host).resolve(host, owner);
    const violation = this.#findAddressViolation(host, addresses);
    if (violation !== undefined) throw new WebhookNotAllowedError(violation);
    if (addresses.length === 0) throw new Error(`${host} has no address`);
    return addresses;
  }

  #selectLookups(host: string): DnsLookupQueue {
    if (this.#customLookups) return this.#customLookups;
    const isNamedByOperator = this.#allowedHosts?.hasName(host) || this.#isPrivateAllowed(host, []);
    return isNamedByOperator ? operatingSystemLookups : nameServerLookups;
  }

  /**
   * Returns a description of the problem with a host. All addresses of the host must be allowed, because a
   * connection can use any address of the host.
   */
  #findAddressViolation(host: string, addresses: readonly string[]): string | undefined {
    const allowed = this.#allowedHosts;
    if (allowed && !allowed.hasName(host) && !addresses.every((address) => allowed.hasAddress(address)))
      return formatUnlistedViolation(host);
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

function formatUnlistedViolation(host: string): string {
  return `names the host ${host}, which is not among the hosts that this server allows`;
}

function isLocalhostName(host: string): boolean {
  return host === "" || host === "localhost" || host.endsWith(".localhost");
}

/**
 * Describes the problem with a private host. The description omits the resolved addresses, because the
 * addresses can be confidential.
 */
function formatPrivateViolation(host: string): string {
  return `names the host ${host}, which is in a private network; use a host on the public internet, or ask the server operator to allow it (push.allowPrivate)`;
}
