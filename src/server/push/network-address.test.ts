import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "./webhook-url-guard.ts";

const arbitraryIpv4 = (a: number[][]): fc.Arbitrary<string> =>
  fc
    .tuple(...a.map(([low = 0, high = low]) => fc.integer({ min: low, max: high })))
    .map((four) => four.join("."));
const ANY_OCTET = [0, 255];

/** Splits text at spaces. */
function splitWords(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Generators of addresses in the private networks of I-09 and of the IANA registry. */
const PRIVATE_IPV4_ARBITRARIES: Record<string, fc.Arbitrary<string>> = {
  "0.0.0.0/8": arbitraryIpv4([[0], ANY_OCTET, ANY_OCTET, ANY_OCTET]),
  "10.0.0.0/8": arbitraryIpv4([[10], ANY_OCTET, ANY_OCTET, ANY_OCTET]),
  "100.64.0.0/10": arbitraryIpv4([[100], [64, 127], ANY_OCTET, ANY_OCTET]),
  "127.0.0.0/8": arbitraryIpv4([[127], ANY_OCTET, ANY_OCTET, ANY_OCTET]),
  "169.254.0.0/16": arbitraryIpv4([[169], [254], ANY_OCTET, ANY_OCTET]),
  "172.16.0.0/12": arbitraryIpv4([[172], [16, 31], ANY_OCTET, ANY_OCTET]),
  "192.0.0.0/24": arbitraryIpv4([[192], [0], [0], ANY_OCTET]),
  "192.0.2.0/24": arbitraryIpv4([[192], [0], [2], ANY_OCTET]),
  "192.168.0.0/16": arbitraryIpv4([[192], [168], ANY_OCTET, ANY_OCTET]),
  "198.18.0.0/15": arbitraryIpv4([[198], [18, 19], ANY_OCTET, ANY_OCTET]),
  "198.51.100.0/24": arbitraryIpv4([[198], [51], [100], ANY_OCTET]),
  "203.0.113.0/24": arbitraryIpv4([[203], [0], [113], ANY_OCTET]),
  "multicast, reserved and broadcast": arbitraryIpv4([[224, 255], ANY_OCTET, ANY_OCTET, ANY_OCTET]),
};
const privateIpv4Arbitrary = fc.oneof(...Object.values(PRIVATE_IPV4_ARBITRARIES));

/** Public addresses next to private networks. */
const PUBLIC_IPV4_ADDRESSES = splitWords(`
  1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
  169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
  223.255.255.255 8.8.8.8 1.1.1.1
`);

const toHexGroups = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

/** Forms of IPv6 addresses that embed an IPv4 address. */
const IPV4_IN_IPV6_FORMS: Record<string, (v4: string) => string> = {
  "mapped, dotted": (v4) => `::ffff:${v4}`,
  mapped: (v4) => `::ffff:${toHexGroups(v4)}`,
  "mapped, in full": (v4) => `0:0:0:0:0:FFFF:${v4}`,
  NAT64: (v4) => `64:ff9b::${toHexGroups(v4)}`,
  "NAT64, dotted": (v4) => `64:ff9b::${v4}`,
};
/** Obsolete forms, which are rejected whatever address they embed. */
const LEGACY_IPV4_IN_IPV6_FORMS: Record<string, (v4: string) => string> = {
  compatible: (v4) => `::${v4}`,
  translated: (v4) => `::ffff:0:${v4}`,
  "6to4": (v4) => `2002:${toHexGroups(v4)}::1`,
  Teredo: (v4) => `2001:0:${toHexGroups(v4)}::1`,
  "local NAT64": (v4) => `64:ff9b:1::${v4}`,
};

/**
 * Rows of the IANA special-purpose registries (retrieved in 2026) that are not globally reachable. Rows inside other
 * rows are included.
 */
const IANA_NETWORKS_WITHOUT_GLOBAL_REACH = splitWords(`
  0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/29 192.0.0.8/32
  192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.88.99.2/32 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24
  203.0.113.0/24 240.0.0.0/4 255.255.255.255/32
  ::1/128 ::/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:2::/48 2001:10::/28 2001:db8::/32
  2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 ff00::/8 224.0.0.0/4 ::ffff:0:0:0/96 fec0::/10
`);

/** Metadata services and internal endpoints of cloud providers. */
const CLOUD_SERVICE_ADDRESSES = splitWords(`
  169.254.169.254 169.254.170.2 169.254.170.23 169.254.0.23 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 168.63.129.16
  100.100.100.200 192.0.0.192 161.26.0.10 166.9.14.3 192.80.8.124
`);

/** Converts an address to a number, without the code under test. */
function toAddressNumber(address: string): bigint {
  if (!address.includes(":"))
    return address.split(".").reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  const [head = [], tail] = address
    .split("::")
    .map((text) => text.split(":").filter((group) => group !== ""));
  const zeros = tail ? Array.from({ length: 8 - head.length - tail.length }, () => "0") : [];
  return [...head, ...zeros, ...(tail ?? [])].reduce(
    (sum, group) => sum * 65_536n + BigInt(`0x${group}`),
    0n,
  );
}

function formatAddressNumber(number: bigint, isIpv6: boolean): string {
  const [bits, count] = isIpv6 ? [16n, 8] : [8n, 4];
  const groups = Array.from(
    { length: count },
    (_, at) => (number >> (bits * BigInt(count - 1 - at))) & (2n ** bits - 1n),
  );
  return groups.map((group) => group.toString(isIpv6 ? 16 : 10)).join(isIpv6 ? ":" : ".");
}

/** Generates any address of a network in the notation `address/prefix`. */
function arbitraryAddressIn(network: string): fc.Arbitrary<string> {
  const [address = "", prefix] = network.split("/");
  const isIpv6 = address.includes(":");
  const hostBits = BigInt((isIpv6 ? 128 : 32) - Number(prefix));
  return fc
    .bigInt({ min: 0n, max: 2n ** hostBits - 1n })
    .map((host) => formatAddressNumber(toAddressNumber(address) + host, isIpv6));
}

it.each(IANA_NETWORKS_WITHOUT_GLOBAL_REACH)(
  "every address of the special-purpose network %s is private [I-09]",
  (network) => {
    fc.assert(
      fc.property(arbitraryAddressIn(network), (address) => {
        expect(isPublicAddress(address)).toBe(false);
      }),
    );
  },
);

it.each(CLOUD_SERVICE_ADDRESSES)(
  "the internal cloud endpoint %s is private, also in IPv6 forms [I-09]",
  (address) => {
    expect(isPublicAddress(address)).toBe(false);
    if (address.includes(":")) return;
    for (const write of Object.values(IPV4_IN_IPV6_FORMS))
      expect(isPublicAddress(write(address))).toBe(false);
  },
);

describe("an IPv4 address", () => {
  it.each(Object.entries(PRIVATE_IPV4_ARBITRARIES))("in %s is private [I-09]", (_, addresses) => {
    fc.assert(
      fc.property(addresses, (address) => {
        expect(isPublicAddress(address)).toBe(false);
      }),
    );
  });

  it.each(PUBLIC_IPV4_ADDRESSES)("such as %s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe("an IPv6 address", () => {
  it.each(Object.entries(IPV4_IN_IPV6_FORMS))(
    "that is an IPv4 address (%s) is what that is [I-09]",
    (_, write) => {
      fc.assert(
        fc.property(privateIpv4Arbitrary, (address) => {
          expect(isPublicAddress(write(address))).toBe(false);
        }),
      );
      for (const address of PUBLIC_IPV4_ADDRESSES) expect(isPublicAddress(write(address))).toBe(true);
    },
  );

  it.each(Object.entries(LEGACY_IPV4_IN_IPV6_FORMS))(
    "that hides an IPv4 address (%s) is refused [I-09]",
    (_, write) => {
      for (const address of [...PUBLIC_IPV4_ADDRESSES, "127.0.0.1", "10.0.0.1"])
        expect(isPublicAddress(write(address))).toBe(false);
    },
  );

  it.each(
    splitWords(`
      :: ::1 0:0:0:0:0:0:0:1 ::2 100::1 fc00::1 fdff:ffff::1 fe80::1 febf::1 fec0::1 ff02::1 fe80::1%eth0
      ::1%lo 2606:4700::1111%eth0 2001:db8::1 2001:2::1 2001:10::1 3fff::1 5f00::1 4000::1 1fff::1 e000::1
    `),
  )("such as %s is private [I-09]", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["2606:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001::1", "2001:200::1", "3ffe::1"])(
    "such as %s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

it("text that is not an address is not public", () => {
  for (const text of ["", "localhost", "1.1.1", "1.1.1.1.1", "0x7f.1", "1.1.1.256", "[::1]", "example.com"])
    expect(isPublicAddress(text)).toBe(false);
  fc.assert(fc.property(fc.string(), (text) => typeof isPublicAddress(text) === "boolean"));
});
