import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bareHost, HostList, isPublicAddress } from "./address.ts";

const octets = (a: number[][]): fc.Arbitrary<string> =>
  fc
    .tuple(...a.map(([low = 0, high = low]) => fc.integer({ min: low, max: high })))
    .map((four) => four.join("."));
const any = [0, 255];

/** What is written with spaces between. */
function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** The networks of I-09 and those of the IANA registry, each as a source of its addresses. */
const PRIVATE_V4: Record<string, fc.Arbitrary<string>> = {
  "0.0.0.0/8": octets([[0], any, any, any]),
  "10.0.0.0/8": octets([[10], any, any, any]),
  "100.64.0.0/10": octets([[100], [64, 127], any, any]),
  "127.0.0.0/8": octets([[127], any, any, any]),
  "169.254.0.0/16": octets([[169], [254], any, any]),
  "172.16.0.0/12": octets([[172], [16, 31], any, any]),
  "192.0.0.0/24": octets([[192], [0], [0], any]),
  "192.0.2.0/24": octets([[192], [0], [2], any]),
  "192.168.0.0/16": octets([[192], [168], any, any]),
  "198.18.0.0/15": octets([[198], [18, 19], any, any]),
  "198.51.100.0/24": octets([[198], [51], [100], any]),
  "203.0.113.0/24": octets([[203], [0], [113], any]),
  "multicast, reserved and broadcast": octets([[224, 255], any, any, any]),
};
const privateV4 = fc.oneof(...Object.values(PRIVATE_V4));

/** The neighbours of private networks are public. */
const PUBLIC_V4 = words(`
  1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
  169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
  223.255.255.255 8.8.8.8 1.1.1.1
`);

const hexOf = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

/** Ways to write an IPv4 address as one of IPv6. */
const DISGUISES: Record<string, (v4: string) => string> = {
  "mapped, dotted": (v4) => `::ffff:${v4}`,
  mapped: (v4) => `::ffff:${hexOf(v4)}`,
  "mapped, in full": (v4) => `0:0:0:0:0:FFFF:${v4}`,
  NAT64: (v4) => `64:ff9b::${hexOf(v4)}`,
  "NAT64, dotted": (v4) => `64:ff9b::${v4}`,
};
/** Those that no network needs today: refused whatever is inside. */
const OLD_DISGUISES: Record<string, (v4: string) => string> = {
  compatible: (v4) => `::${v4}`,
  translated: (v4) => `::ffff:0:${v4}`,
  "6to4": (v4) => `2002:${hexOf(v4)}::1`,
  Teredo: (v4) => `2001:0:${hexOf(v4)}::1`,
  "local NAT64": (v4) => `64:ff9b:1::${v4}`,
};

describe("an IPv4 address", () => {
  it.each(Object.entries(PRIVATE_V4))("in %s is private [I-09]", (_, addresses) => {
    fc.assert(
      fc.property(addresses, (address) => {
        expect(isPublicAddress(address)).toBe(false);
      }),
    );
  });

  it.each(PUBLIC_V4)("such as %s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe("an IPv6 address", () => {
  it.each(Object.entries(DISGUISES))("that is an IPv4 address (%s) is what that is [I-09]", (_, write) => {
    fc.assert(
      fc.property(privateV4, (address) => {
        expect(isPublicAddress(write(address))).toBe(false);
      }),
    );
    for (const address of PUBLIC_V4) expect(isPublicAddress(write(address))).toBe(true);
  });

  it.each(Object.entries(OLD_DISGUISES))("that hides an IPv4 address (%s) is refused [I-09]", (_, write) => {
    for (const address of [...PUBLIC_V4, "127.0.0.1", "10.0.0.1"])
      expect(isPublicAddress(write(address))).toBe(false);
  });

  it.each(
    words(`
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

it("what is no address is not public", () => {
  for (const text of ["", "localhost", "1.1.1", "1.1.1.1.1", "0x7f.1", "1.1.1.256", "[::1]", "example.com"])
    expect(isPublicAddress(text)).toBe(false);
  fc.assert(fc.property(fc.string(), (text) => typeof isPublicAddress(text) === "boolean"));
});

it("a URL's host is an address however that is written [I-09]", () => {
  const loopback = [
    "127.0.0.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0x7f.1",
    "127.1",
    "127.0.0.1.",
    "１２７.0.0.1",
  ];
  for (const host of loopback) expect(bareHost(new URL(`http://${host}:80/`))).toBe("127.0.0.1");
  expect(bareHost(new URL("http://[::FFFF:7f00:1]/"))).toBe("::ffff:7f00:1");
  expect(bareHost(new URL("http://LocalHost./"))).toBe("localhost");
});

describe("a list of hosts", () => {
  it("has names, names below one, addresses and networks", () => {
    const list = new HostList([
      "hooks.example.com",
      "*.Example.ORG.",
      "10.1.0.0/16",
      "192.168.1.1",
      "fd00::/8",
      "[::1]",
    ]);
    const names = ["hooks.example.com", "a.example.org", "a.b.example.org"];
    expect(names.filter((name) => list.hasName(name))).toEqual(names);
    for (const name of ["example.com", "x.hooks.example.com", "example.org", "badexample.org", "10.1.0.1"])
      expect(list.hasName(name)).toBe(false);
    const addresses = ["10.1.2.3", "192.168.1.1", "fd12::1", "::1"];
    expect(addresses.filter((address) => list.hasAddress(address))).toEqual(addresses);
    for (const address of ["10.2.0.1", "192.168.1.2", "fe80::1", "::2", "hooks.example.com"])
      expect(list.hasAddress(address)).toBe(false);
  });

  it.each([
    "",
    "*",
    "*.",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "example.com/path",
    "http://example.com",
    "a b",
  ])("refuses %j", (entry) => {
    expect(() => new HostList([entry])).toThrow("names no hosts");
  });
});
