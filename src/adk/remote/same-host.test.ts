import { describe, expect, it } from "vitest";
import { checkHost } from "./same-host.ts";

const at = (cardUrl: string, url: string): Parameters<typeof checkHost>[0] => ({
  cardUrl,
  via: { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
});

describe("the credentials of users are for", () => {
  it.each([
    ["https://a.example/.well-known/agent-card.json", "https://a.example/rpc"],
    ["https://a.example/card.json", "a.example:443"],
    ["https://a.example/card.json", "grpcs://a.example:4100"],
    ["http://localhost:8001/card.json", "http://127.0.0.1:8001/"],
    ["http://127.0.0.1:1/card.json", "[::1]:2"],
    ["http://127.0.0.1:1/card.json", "localhost:4100"],
  ])("the host of the card: %s, %s", (cardUrl, url) => {
    expect(() => checkHost(at(cardUrl, url))).not.toThrow();
  });

  it.each([
    ["https://a.example/card.json", "https://b.example/rpc"],
    ["https://a.example/card.json", "https://a.example.evil.test/"],
    ["https://a.example/card.json", "http://169.254.169.254/latest"],
    ["https://a.example/card.json", "localhost:4100"],
    ["https://a.example/card.json", "https://a.example@b.example/"],
  ])("nobody else: %s, %s", (cardUrl, url) => {
    expect(() => checkHost(at(cardUrl, url))).toThrow(/"headers" are for a\.example only/);
  });
});
