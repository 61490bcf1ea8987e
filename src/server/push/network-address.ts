import { BlockList, isIPv4, isIPv6 } from "node:net";

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
