import { describe, expect, it } from "vitest";
import { Conversation, createRemoteAgent } from "./conversation.fixture.ts";
import { assertSameHost } from "./same-host.ts";

const createConnection = (cardUrl: string, url: string): Parameters<typeof assertSameHost>[0] => ({
  cardUrl,
  agentInterface: { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
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
    expect(() => assertSameHost(createConnection(cardUrl, url))).not.toThrow();
  });

  it.each([
    ["https://a.example/card.json", "https://b.example/rpc"],
    ["https://a.example/card.json", "https://a.example.evil.test/"],
    ["https://a.example/card.json", "http://169.254.169.254/latest"],
    ["https://a.example/card.json", "localhost:4100"],
    ["https://a.example/card.json", "https://a.example@b.example/"],
  ])("nobody else: %s, %s", (cardUrl, url) => {
    expect(() => assertSameHost(createConnection(cardUrl, url))).toThrow(/"headers" are for a\.example only/);
  });
});

describe("the credentials of users, whatever a card says", () => {
  /** What every address of a network was sent, in which one has a card that names an interface. */
  async function sentTo(url: string): Promise<{ error: string | undefined; heard: (string | null)[] }> {
    const heard: (string | null)[] = [];
    const card = {
      name: "far",
      description: "far",
      version: "1",
      supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    const answer = { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hi" }] } };
    const agent = createRemoteAgent("https://a.example", {
      headers: () => ({ authorization: "Bearer ada" }),
      connect: {
        fetch: async (input, init) => {
          if (JSON.stringify(input).includes(".json")) return Response.json(card);
          heard.push(new Headers(init?.headers).get("authorization"));
          return Response.json({ jsonrpc: "2.0", id: 1, result: answer });
        },
      },
    });
    const events = await new Conversation(agent).send("hello");
    return { error: events.at(-1)?.errorMessage, heard };
  }

  it("go to its host over TLS", async () => {
    expect(await sentTo("https://a.example/rpc")).toEqual({ error: undefined, heard: ["Bearer ada"] });
  });

  it.each([
    ["in clear text to the same host", "http://a.example/rpc", "without TLS"],
    ["to another host", "https://b.example/rpc", "are for a.example only"],
    ["to a link-local address", "http://169.254.169.254/latest", "are for a.example only"],
    ["to this machine", "http://127.0.0.1:1/rpc", "are for a.example only"],
  ])("do not go %s [M-07]", async (_, url, why) => {
    const { error, heard } = await sentTo(url);
    expect(error).toContain(why);
    expect(heard).toEqual([]);
  });
});
