import { describe, expect, it } from "vitest";
import { TestAdkConversation, createTestRemoteAgent } from "./test-adk-conversation.fixture.ts";

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
    ["to another host", "https://b.example/rpc", "trustedOrigins"],
    ["to a link-local address", "http://169.254.169.254/latest", "without TLS"],
    ["to this machine", "http://127.0.0.1:1/rpc", "trustedOrigins"],
  ])("are not sent %s [M-07]", async (_, url, reason) => {
    const { error, authorizations } = await collectAuthorizations(url);
    expect(error).toContain(reason);
    expect(authorizations).toEqual([]);
  });
});
