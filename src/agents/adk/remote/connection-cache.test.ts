import { afterEach, describe, expect, it } from "vitest";
import { createServer, type Server } from "../../../server/index.ts";
import { ConnectionCache } from "./remote-agent.ts";

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

/** Returns a server that counts the requests for its card and can become unavailable. */
async function serveCountedCard(): Promise<{ fetch: typeof fetch; looks: () => number; leave: () => void }> {
  const server = createServer(
    { agent: { describe: () => ({ name: "a", description: "a" }), async *execute() {} } },
    { store: "memory" },
  );
  servers.push(server);
  let looks = 0;
  let isGone = false;
  return {
    looks: () => looks,
    leave: () => {
      isGone = true;
    },
    fetch: (url, init) => {
      looks++;
      if (isGone) throw new TypeError("fetch failed");
      return server.fetch(new Request(url, init));
    },
  };
}

const AGENT_URL = "http://agent.test";

describe("cached connections", () => {
  it("are opened once, and again when the card has expired", async () => {
    const server = await serveCountedCard();
    let now = 0;
    const connections = new ConnectionCache({ fetch: server.fetch }, 1_000, () => now);
    const [one, same] = await Promise.all([
      connections.getClient(AGENT_URL),
      connections.getClient(AGENT_URL),
    ]);
    expect(same).toBe(one);
    const looks = server.looks();
    now = 999;
    expect(await connections.getClient(AGENT_URL)).toBe(one);
    expect(server.looks()).toBe(looks);
    now = 1_000;
    expect(await connections.getClient(AGENT_URL)).not.toBe(one);
  });

  it("stay in use while an expired card cannot be fetched", async () => {
    const server = await serveCountedCard();
    let now = 0;
    const connections = new ConnectionCache(
      { fetch: server.fetch, retry: { maxRetries: 0 } },
      1_000,
      () => now,
    );
    const known = await connections.getClient(AGENT_URL);
    server.leave();
    now = 5_000;
    expect(await connections.getClient(AGENT_URL)).toBe(known);
  });

  it("that failed are retried by the next call", async () => {
    const server = await serveCountedCard();
    let isUp = false;
    const away: typeof fetch = (url, init) =>
      isUp ? server.fetch(url, init) : Promise.reject(new TypeError("no"));
    const connections = new ConnectionCache({ fetch: away, retry: { maxRetries: 0 } }, 1_000, () => 0);
    await expect(connections.getClient(AGENT_URL)).rejects.toThrow("Found no agent card");
    isUp = true;
    await expect(connections.getClient(AGENT_URL)).resolves.toMatchObject({ card: { name: "a" } });
  });
});
