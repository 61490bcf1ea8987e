import { describe, expect, it } from "vitest";
import { getBareHostname, HostList } from "./webhook-url-guard.ts";

it("the host of a URL is an address in every notation [I-09]", () => {
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
  for (const host of loopback) expect(getBareHostname(new URL(`http://${host}:80/`))).toBe("127.0.0.1");
  expect(getBareHostname(new URL("http://[::FFFF:7f00:1]/"))).toBe("::ffff:7f00:1");
  expect(getBareHostname(new URL("http://LocalHost./"))).toBe("localhost");
});

describe("a list of hosts", () => {
  it("matches names, domains, addresses, and networks", () => {
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
  ])("rejects %j", (entry) => {
    expect(() => new HostList([entry])).toThrow("is not a host or network");
  });
});
