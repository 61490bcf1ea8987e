import { describe, expect, it } from "vitest";
import { createServer, type ServerOptions } from "./index.ts";
import { messageCommandTestAgent } from "./server.fixture.ts";

/** Returns the warnings of a server that listens on loopback. */
async function listWarnings(options: ServerOptions): Promise<string[]> {
  const warnings: string[] = [];
  const observer = { onWarning: ({ message }: { message: string }) => void warnings.push(message) };
  const server = createServer(messageCommandTestAgent, { store: "memory", observer, ...options });
  await server.listen();
  await server.close();
  return warnings;
}

const publicUrl = "https://agents.example.com/all";

describe("a server on loopback", () => {
  it("warns if its public URL names another host, and no authentication is configured [SEC-89]", async () => {
    const [warning = "", ...others] = await listWarnings({ publicUrl });
    expect(others).toEqual([]);
    expect(warning).toContain("names agents.example.com, and no authentication is configured");
    expect(warning).toContain('Set "authenticate"');
  });

  it.each<[string, ServerOptions]>([
    ["authentication", { publicUrl, authenticate: () => ({ tenant: "", principal: "ada" }) }],
    ["an explicit permission", { publicUrl, allowUnauthenticated: true }],
    ["a public URL of this machine", { publicUrl: "http://localhost:8080" }],
    ["no public URL", {}],
  ])("does not warn with %s", async (_, options) => {
    expect(await listWarnings(options)).toEqual([]);
  });
});
