import { isIP, BlockList, isIPv4, isIPv6 } from "node:net";
import { MAX_URL_LENGTH } from "../../protocol/index.ts";
import { getBareHostname, HostList } from "./allowed-host-list.ts";
import {
  DnsLookupQueue,
  type HostResolver,
  nameServerLookups,
  operatingSystemLookups,
} from "./dns-lookup-queue.ts";

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

/**
 * Ports that browsers refuse to contact ("bad ports" of the fetch standard,
 * https://fetch.spec.whatwg.org/#port-blocking). Services on these ports, such as SMTP, read the lines of an HTTP
 * request as commands.
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Returns true if a URL has a port on which no web server runs. */
function hasBlockedPort({ port }: URL): boolean {
  return port !== "" && BLOCKED_PORTS.has(Number(port));
}

/**
 * IPv4 networks that webhooks must not target. The IANA IPv4 special-purpose registry
 * (https://www.iana.org/assignments/iana-ipv4-special-registry) does not list these networks as globally reachable,
 * or deprecates them.
 */
const PRIVATE_IPV4_NETWORKS: readonly [network: string, prefix: number][] = [
  ["0.0.0.0", 8], // this network; on many systems, 0.0.0.0 refers to the machine itself
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier-grade NAT, including the metadata service of Alibaba Cloud, 100.100.100.200
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // link-local, including the metadata services of AWS, Azure, Google Cloud, and IBM Cloud
  ["172.16.0.0", 12],
  ["192.0.0.0", 24], // protocol assignments, including the metadata service of Oracle Cloud, 192.0.0.192
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // deprecated anycast address of 6to4 relays
  ["192.168.0.0", 16],
  ["198.18.0.0", 15], // benchmarking
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved and broadcast
];

/**
 * IPv4 networks with public addresses that reach services of the cloud provider from inside its networks. Azure's
 * 168.63.129.16 is the agent endpoint of a virtual machine. IBM Cloud's two networks contain its DNS servers and
 * private service endpoints. 192.80.8.124 is the metadata service of Equinix Metal.
 */
const CLOUD_SERVICE_IPV4_NETWORKS: readonly [network: string, prefix: number][] = [
  ["168.63.129.16", 32],
  ["161.26.0.0", 16],
  ["166.8.0.0", 14],
  ["192.80.8.124", 32],
];

/**
 * IPv6 networks inside 2000::/3 that webhooks must not target, according to the IANA IPv6 special-purpose registry
 * (https://www.iana.org/assignments/iana-ipv6-special-registry). All IPv6 addresses outside 2000::/3 are rejected,
 * such as local NAT64 (64:ff9b:1::/48) and unique local addresses with the metadata services of AWS (fd00:ec2::254)
 * and Google Cloud (fd20:ce::254).
 */
const PRIVATE_IPV6_NETWORKS: readonly [network: string, prefix: number][] = [
  ["2001::", 23], // protocol assignments, Teredo, benchmarking, ORCHID
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4, which embeds an IPv4 address
  ["3fff::", 20], // documentation
];

const privateIpv4BlockList = createBlockList(
  [...PRIVATE_IPV4_NETWORKS, ...CLOUD_SERVICE_IPV4_NETWORKS],
  "ipv4",
);
const privateIpv6BlockList = createBlockList(PRIVATE_IPV6_NETWORKS, "ipv6");
const globalIpv6Networks = createBlockList([["2000::", 3]], "ipv6");

function createBlockList(networks: readonly [string, number][], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}

/** Returns true if the text is an IP address on the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !privateIpv4BlockList.check(address, "ipv4");
  // An address with a zone (`fe80::1%eth0`) refers to a network interface of this machine.
  if (!isIPv6(address) || address.includes("%")) return false;
  const embedded = extractEmbeddedIpv4(address);
  if (embedded !== undefined) return isPublicAddress(embedded);
  return globalIpv6Networks.check(address, "ipv6") && !privateIpv6BlockList.check(address, "ipv6");
}

/**
 * Returns the IPv4 address that is embedded in an IPv4-mapped IPv6 address (`::ffff:0:0/96`) or in a NAT64
 * address (`64:ff9b::/96`). IPv4-mapped and NAT64 addresses both reach IPv4 hosts.
 */
function extractEmbeddedIpv4(address: string): string | undefined {
  const groups = parseIpv6(address);
  const prefix = groups.slice(0, 6).join(":");
  if (prefix !== "0:0:0:0:0:65535" && prefix !== "100:65435:0:0:0:0") return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function parseIpv6(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const leading = parseIpv6Groups(head);
  if (tail === undefined) return leading;
  const trailing = parseIpv6Groups(tail);
  return [...leading, ...Array.from({ length: 8 - leading.length - trailing.length }, () => 0), ...trailing];
}

function parseIpv6Groups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
