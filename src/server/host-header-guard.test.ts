import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseHostAndPort } from "../protocol/index.ts";
import { HostHeaderGuard } from "./loopback-protection.ts";

describe("a Host header", () => {
  it.each([
    ["localhost", "localhost", ""],
    ["LocalHost:4120", "localhost", "4120"],
    ["localhost.", "localhost", ""],
    ["my_agent.example-1.com:80", "my_agent.example-1.com", "80"],
    ["127.0.0.1:0", "127.0.0.1", "0"],
    ["[::1]:65535", "[::1]", "65535"],
    ["[0:0:0:0:0:0:0:1]", "[::1]", ""],
  ])("%s has a host name and a port", (text, hostname, port) => {
    expect(parseHostAndPort(text)).toEqual({ hostname, port });
  });

  it.each([
    "",
    "evil@localhost",
    "evil:secret@localhost:80",
    "localhost/path",
    "localhost?query",
    "localhost#fragment",
    "localhost\\evil",
    "localhost:65536",
    "localhost:",
    "localhost:+80",
    "localhost:80:80",
    "localhost, evil.example",
    "local host",
    "%6cocalhost",
    "loc\u00e4lhost",
    "a..localhost",
    ".localhost",
    ".",
    "localhost..",
    "::1",
    "[::1",
    "[::1]evil",
    "[fe80::1%25lo]",
    "[::g]",
    "[v1.x]",
    `${"a".repeat(64)}.example`,
    "a.".repeat(200),
  ])("%j is invalid", (text) => {
    expect(parseHostAndPort(text)).toBeUndefined();
  });

  it("names the same host as a URL whenever it is valid", () => {
    const characters = fc.constantFrom(...Array.from("abz09.-_:[]@/\\%? "));
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 20 }), (text) => {
        const parsed = parseHostAndPort(text);
        const url = URL.parse(`http://${text}/`);
        // A URL converts numbers such as 0127.1 to addresses. The parser keeps them as names.
        if (!parsed || !url || /(?:^|\.)[\dxa-f]*\.?(?::|$)/.test(text)) return;
        expect(url.hostname.replace(/\.$/, "")).toBe(parsed.hostname);
        expect([url.username, url.password, url.pathname, url.search]).toEqual(["", "", "/", ""]);
      }),
      { numRuns: 5_000 },
    );
  });
});

it("the guard for loopback accepts the host of publicUrl with and without a trailing dot", () => {
  for (const publicUrl of ["https://Agents.example./a", "https://agents.example:8443/a"]) {
    const guard = new HostHeaderGuard(publicUrl);
    guard.acceptOnlyLoopback();
    for (const host of ["agents.example", "agents.example.", "AGENTS.example:443"])
      expect(() => guard.assertAllowed(host)).not.toThrow();
    expect(() => guard.assertAllowed("agents.example.evil")).toThrow("does not accept the Host header");
  }
});
