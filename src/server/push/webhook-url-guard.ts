import { isIP, BlockList, isIPv4, isIPv6 } from "node:net";
import {
  MAX_URL_LENGTH,
  A2AError,
  type AuthenticationInfo,
  type FieldViolation,
} from "../../protocol/index.ts";
import {
  DnsLookupQueue,
  type HostResolver,
  nameServerLookups,
  operatingSystemLookups,
} from "./dns-lookup-queue.ts";
import { parseIpv6 } from "../remote-address.ts";
import { setTimeout } from "node:timers/promises";
import type { WebhookValidator } from "../../webhooks/index.ts";

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

/** A list of allowed hosts, which can contain host names, domains, IP addresses, and networks. */
export class HostList {
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];
  readonly #networks = new BlockList();

  /**
   * Each entry of the list is a host name (`hooks.example.com`), a domain (`*.example.com`), an IP address,
   * or a network (`10.0.0.0/8`).
   */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#addEntry(entry);
  }

  hasName(name: string): boolean {
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }

  hasAddress(address: string): boolean {
    if (isIPv4(address)) return this.#networks.check(address, "ipv4");
    return isIPv6(address) && this.#networks.check(address, "ipv6");
  }

  #addEntry(entry: string): void {
    const [network = "", prefix, ...more] = entry.replaceAll(/[[\]]/g, "").split("/");
    const family = isIPv4(network) ? "ipv4" : isIPv6(network) ? "ipv6" : undefined;
    if (family) {
      const maxBits = family === "ipv4" ? 32 : 128;
      // `Number("")` is 0, so an empty prefix would match every address.
      const bits = prefix === undefined ? maxBits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
      if (more.length > 0 || bits > maxBits) throw createInvalidHostError(entry);
      this.#networks.addSubnet(network, bits, family);
      return;
    }
    const name = normalizeHostname(network.replace(/^\*\./, ""));
    if (prefix !== undefined || name === undefined) throw createInvalidHostError(entry);
    if (network.startsWith("*.")) this.#suffixes.push(`.${name}`);
    else this.#names.add(name);
  }
}

function createInvalidHostError(entry: string): Error {
  return new Error(
    `${JSON.stringify(entry)} is not a host or network; use "hooks.example.com", "*.example.com", "10.1.2.3", or "10.0.0.0/8".`,
  );
}

/**
 * Normalizes a host name in the same way as a URL parser. Returns `undefined` if the host name is invalid.
 */
function normalizeHostname(text: string): string | undefined {
  const url = /^[^\s/?#@:\\*]+$/.test(text) ? URL.parse(`http://${text}/`) : null;
  return url ? getBareHostname(url) : undefined;
}

/** Returns the host of a URL. The result contains no trailing dot and no brackets around an IPv6 address. */
export function getBareHostname({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

const MAX_PUSH_CONFIG_ID_LENGTH = 256;
const MAX_SECRET_LENGTH = 8192;
/**
 * Timeout in milliseconds for the DNS lookup when a caller registers a webhook. If the lookup times out, the
 * server checks the webhook's host only at delivery.
 */
const RESOLVE_TIMEOUT_MS = 1000;

const HTTP_TOKEN_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/**
 * Pattern of valid header values. A header value consists of visible ASCII characters, with single spaces
 * between words.
 */
const HEADER_VALUE_PATTERN = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/;

/** The checks of a webhook's URL. Without `resolveAllowedAddresses`, the addresses of its host are not checked. */
type WebhookUrlChecks = Pick<WebhookUrlGuard, "findUrlViolation"> &
  Partial<Pick<WebhookUrlGuard, "resolveAllowedAddresses">>;

/**
 * Creates a function that validates a webhook when a caller registers it. The server checks the URL of the
 * webhook again at each delivery (I-09).
 */
export function createWebhookValidator(guard: WebhookUrlChecks): WebhookValidator {
  return async ({ id = "", url, token, authentication }, owner) => {
    const violations = authentication ? validateAuthentication(authentication) : [];
    if (id.length > MAX_PUSH_CONFIG_ID_LENGTH)
      violations.push({
        field: "id",
        description: `must have at most ${MAX_PUSH_CONFIG_ID_LENGTH} characters`,
      });
    if (token) violations.push(...validateSecret("token", token));
    const urlViolation = guard.findUrlViolation(url) ?? (await findHostViolation(guard, url, owner));
    return urlViolation === undefined
      ? violations
      : [{ field: "url", description: urlViolation }, ...violations];
  };
}

function validateAuthentication({ scheme, credentials }: AuthenticationInfo): FieldViolation[] {
  const violations = credentials ? validateSecret("authentication.credentials", credentials) : [];
  if (!HTTP_TOKEN_PATTERN.test(scheme)) {
    const description = `must be the name of an HTTP authentication scheme, such as "Bearer"`;
    violations.push({ field: "authentication.scheme", description });
  }
  return violations;
}

/** Checks that a secret is a valid header value. A line break in a secret could start another header. */
function validateSecret(field: string, secret: string): FieldViolation[] {
  if (secret.length <= MAX_SECRET_LENGTH && HEADER_VALUE_PATTERN.test(secret)) return [];
  const description = `must be at most ${MAX_SECRET_LENGTH} visible ASCII characters, because it is sent in an HTTP header`;
  return [{ field, description }];
}

/**
 * Returns the reason why the current addresses of a host are not allowed. Returns `undefined` if all
 * addresses are allowed, or if the host cannot be resolved. Rejects if the owner has too many pending lookups.
 */
async function findHostViolation(
  guard: WebhookUrlChecks,
  url: string,
  owner: string,
): Promise<string | undefined> {
  if (!guard.resolveAllowedAddresses) return undefined;
  const stop = new AbortController();
  const timeout = setTimeout(RESOLVE_TIMEOUT_MS, undefined, { signal: stop.signal, ref: false }).catch(
    () => undefined,
  );
  const checked = guard.resolveAllowedAddresses(getBareHostname(new URL(url)), owner).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof WebhookNotAllowedError) return error.description;
      // The caller has too many lookups. Other errors may be temporary, and the server repeats the check at delivery.
      if (error instanceof A2AError) throw error;
      return undefined;
    },
  );
  try {
    return await Promise.race([checked, timeout]);
  } finally {
    stop.abort();
  }
}
