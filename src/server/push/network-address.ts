import { BlockList, isIPv4, isIPv6 } from "node:net";

/**
 * What the IANA special-purpose registries do not call globally reachable: nothing that strangers may have this server
 * send requests to.
 */
const PRIVATE_IPV4_NETWORKS: readonly [network: string, prefix: number][] = [
  ["0.0.0.0", 8], // this network; on many systems 0.0.0.0 is this machine
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // behind carriers' NAT
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // link-local: the metadata services of clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, and broadcast
];

/** Inside 2000::/3, which is all that is given out; everything outside of it is refused. */
const PRIVATE_IPV6_NETWORKS: readonly [network: string, prefix: number][] = [
  ["2001::", 23], // protocol assignments, Teredo, benchmarking, ORCHID
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4: an IPv4 address in disguise
  ["3fff::", 20],
];

const privateIpv4BlockList = createBlockList(PRIVATE_IPV4_NETWORKS, "ipv4");
const privateIpv6BlockList = createBlockList(PRIVATE_IPV6_NETWORKS, "ipv6");
const globalIpv6BlockList = createBlockList([["2000::", 3]], "ipv6");

function createBlockList(networks: readonly [string, number][], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}

/** True for an address on the public internet; false for any other text too. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !privateIpv4BlockList.check(address, "ipv4");
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (!isIPv6(address) || address.includes("%")) return false;
  const inside = extractEmbeddedIpv4(address);
  if (inside !== undefined) return isPublicAddress(inside);
  return globalIpv6BlockList.check(address, "ipv6") && !privateIpv6BlockList.check(address, "ipv6");
}

/**
 * The IPv4 address that such an IPv6 address stands for: mapped (`::ffff:0:0/96`), which a socket takes for the IPv4
 * address itself, and NAT64 (`64:ff9b::/96`), under which networks without IPv4 see all of its hosts.
 */
function extractEmbeddedIpv4(address: string): string | undefined {
  const words = parseIpv6(address);
  const prefix = words.slice(0, 6).join(":");
  if (prefix !== "0:0:0:0:0:65535" && prefix !== "100:65435:0:0:0:0") return undefined;
  const [high = 0, low = 0] = words.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight words of an IPv6 address. */
function parseIpv6(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const front = parseIpv6Groups(head);
  if (tail === undefined) return front;
  const back = parseIpv6Groups(tail);
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
}

function parseIpv6Groups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** Hosts by name, and networks. */
export class HostList {
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];
  readonly #networks = new BlockList();

  /** Each a name (`hooks.example.com`), names below one (`*.example.com`), an address, or a network (`10.0.0.0/8`). */
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
      const most = family === "ipv4" ? 32 : 128;
      // Not `Number` alone, for which no digit is 0: the network of all addresses.
      const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
      if (more.length > 0 || bits > most) throw createInvalidHostError(entry);
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
    `${JSON.stringify(entry)} names no hosts; write "hooks.example.com", "*.example.com", "10.1.2.3" or "10.0.0.0/8".`,
  );
}

/** A host name as URLs have it; undefined for what is none. */
function normalizeHostname(text: string): string | undefined {
  const url = /^[^\s/?#@:\\*]+$/.test(text) ? URL.parse(`http://${text}/`) : null;
  return url ? getBareHostname(url) : undefined;
}

/** The host of a URL: a name without a dot at its end, or an address without brackets. */
export function getBareHostname({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
