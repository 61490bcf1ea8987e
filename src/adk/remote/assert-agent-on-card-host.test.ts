import { describe, expect, it } from "vitest";
import { TestAdkConversation, createTestRemoteAgent } from "./test-adk-conversation.fixture.ts";
import { assertAgentOnCardHost } from "./assert-agent-on-card-host.ts";

const createConnection = (cardUrl: string, url: string): Parameters<typeof assertAgentOnCardHost>[0] => ({
  cardUrl,
  agentInterface: { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
});

describe("user credentials are sent to", () => {
  it.each([
    ["https://a.example/.well-known/agent-card.json", "https://a.example/rpc"],
    ["https://a.example/card.json", "a.example:443"],
    ["https://a.example/card.json", "grpcs://a.example:4100"],
    ["http://localhost:8001/card.json", "http://127.0.0.1:8001/"],
    ["http://127.0.0.1:1/card.json", "[::1]:2"],
    ["http://127.0.0.1:1/card.json", "localhost:4100"],
  ])("the host of the card: %s, %s", (cardUrl, url) => {
    expect(() => assertAgentOnCardHost(createConnection(cardUrl, url))).not.toThrow();
  });

  it.each([
    ["https://a.example/card.json", "https://b.example/rpc"],
    ["https://a.example/card.json", "https://a.example.evil.test/"],
    ["https://a.example/card.json", "http://169.254.169.254/latest"],
    ["https://a.example/card.json", "localhost:4100"],
    ["https://a.example/card.json", "https://a.example@b.example/"],
  ])("no other host: %s, %s", (cardUrl, url) => {
    expect(() => assertAgentOnCardHost(createConnection(cardUrl, url))).toThrow(
      /"headers" are only sent to a\.example/,
    );
  });
});

describe("user credentials and agent cards", () => {
  /**
   * Returns the requests to each address of a network in which one agent card contains the given interface.
   */
  async function collectAuthorizations(
    url: string,
  ): Promise<{ error: string | undefined; authorizations: (string | null)[] }> {
    const authorizations: (string | null)[] = [];
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
    const agent = createTestRemoteAgent("https://a.example", {
      headers: () => ({ authorization: "Bearer ada" }),
      connect: {
        fetch: async (input, init) => {
          if (JSON.stringify(input).includes(".json")) return Response.json(card);
          authorizations.push(new Headers(init?.headers).get("authorization"));
          return Response.json({ jsonrpc: "2.0", id: 1, result: answer });
        },
      },
    });
    const events = await new TestAdkConversation(agent).sendUserMessage("hello");
    return { error: events.at(-1)?.errorMessage, authorizations };
  }

  it("are sent to the card's host over TLS", async () => {
    expect(await collectAuthorizations("https://a.example/rpc")).toEqual({
      error: undefined,
      authorizations: ["Bearer ada"],
    });
  });

  it.each([
    ["in clear text to the same host", "http://a.example/rpc", "without TLS"],
    ["to another host", "https://b.example/rpc", "are only sent to a.example"],
    ["to a link-local address", "http://169.254.169.254/latest", "are only sent to a.example"],
    ["to this machine", "http://127.0.0.1:1/rpc", "are only sent to a.example"],
  ])("are not sent %s [M-07]", async (_, url, reason) => {
    const { error, authorizations } = await collectAuthorizations(url);
    expect(error).toContain(reason);
    expect(authorizations).toEqual([]);
  });
});
