import { describe, expect, it } from "vitest";
import { connect, type ConnectOptions } from "../index.ts";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
  type RecordedTestRequest,
  sendTestJsonResponse,
} from "../request-recording-test-server.fixture.ts";

const WELL_KNOWN = "/.well-known/agent-card.json";

/** A host that serves cards at the given paths, and 404 elsewhere. */
async function serveCards(
  cards: Record<string, (url: string) => object>,
): Promise<{ url: string; seen: RecordedTestRequest[] }> {
  let url = "";
  const server = await startRequestRecordingTestServer((response, request) => {
    const card = cards[request.url];
    if (card) sendTestJsonResponse(response, card(url));
    else sendTestJsonResponse(response, { error: "not here" }, 404);
  });
  ({ url } = server);
  return server;
}

describe("an agent is found", () => {
  it("by its host, with or without a scheme [A-01]", async () => {
    const { url } = await serveCards({ [WELL_KNOWN]: buildTestAgentCard });
    for (const input of [url, `${url}/`, url.replace("http://", "")]) {
      expect(await connect(input)).toMatchObject({ card: { name: "Raw" }, cardUrl: url + WELL_KNOWN });
    }
  });

  it("by the URL of its card", async () => {
    const { url, seen } = await serveCards({ "/cards/raw.json": buildTestAgentCard });
    expect((await connect(`${url}/cards/raw.json`)).card.name).toBe("Raw");
    expect(seen).toHaveLength(1);
  });

  it("by its own URL if the card is served there", async () => {
    const { url } = await serveCards({
      [`/a2a/second${WELL_KNOWN}`]: buildTestAgentCard,
      [WELL_KNOWN]: buildTestAgentCard,
    });
    expect((await connect(`${url}/a2a/second`)).cardUrl).toBe(`${url}/a2a/second${WELL_KNOWN}`);
  });

  it("by its own URL if the card of its host names it", async () => {
    const { url } = await serveCards({ [WELL_KNOWN]: buildTestAgentCard });
    expect((await connect(`${url}/rpc/`)).cardUrl).toBe(url + WELL_KNOWN);
  });

  it("at the card path of versions before 0.3", async () => {
    const { url } = await serveCards({ "/.well-known/agent.json": buildTestAgentCard });
    expect((await connect(url)).card.name).toBe("Raw");
  });

  it("but never instead of a different agent", async () => {
    const { url } = await serveCards({ [WELL_KNOWN]: buildTestAgentCard });
    await expect(connect(`${url}/a2a/misspelt`)).rejects.toMatchObject({
      reason: "NOT_FOUND",
      message: expect.stringContaining(`the card of "Raw" does not name /a2a/misspelt`) as string,
    });
  });
});

describe("an agent that is not found", () => {
  it("is reported with the agents that the server lists", async () => {
    for (const prefix of ["", "/agents"]) {
      const { url } = await serveCards({
        [`${prefix}/a2a`]: () => ({ agents: [{ id: "hello" }, { id: "weather" }, { id: "\u001b[31m" }, 7] }),
      });
      await expect(connect(`${url}${prefix}/a2a/wether`)).rejects.toMatchObject({
        reason: "NOT_FOUND",
        message: expect.stringContaining(
          `The server has the agents ${url}${prefix}/a2a/hello and ${url}${prefix}/a2a/weather. `,
        ) as string,
      });
    }
  });

  it("is reported with every URL that was tried", async () => {
    const { url } = await serveCards({});
    await expect(connect(`${url}/a`)).rejects.toMatchObject({
      reason: "NOT_FOUND",
      message: [
        `Found no agent card for ${url}/a. Pass the URL of an agent, its host, or its card. Tried:`,
        `  ${url}/a${WELL_KNOWN}: HTTP 404`,
        `  ${url}/a: HTTP 404`,
        `  ${url}${WELL_KNOWN}: HTTP 404`,
        `  ${url}/a/.well-known/agent.json: HTTP 404`,
        `  ${url}/.well-known/agent.json: HTTP 404`,
      ].join("\n"),
    });
  });

  it("is unavailable if no server listens, and is requested only once", async () => {
    await expect(connect("http://127.0.0.1:1")).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringMatching(
        /^No answer from http:[^\n]*\nFound no agent card for http:[^\n]* Tried:\n {2}http:[^\n]*$/,
      ) as string,
    });
  });

  it("may require authentication [M-01]", async () => {
    const { url } = await startRequestRecordingTestServer((response) =>
      sendTestJsonResponse(response, {}, 401),
    );
    await expect(connect(url)).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
  });

  it("may be a server that does not support A2A", async () => {
    const { url } = await startRequestRecordingTestServer((response) => response.end("<html>Welcome</html>"));
    await expect(connect(url)).rejects.toMatchObject({
      reason: "INVALID_AGENT_RESPONSE",
      message: expect.stringContaining("not an agent card") as string,
    });
  });

  it("is not requested with credentials outside of the option auth", async () => {
    const options = { bearer: "secret", apiKey: "secret" } as ConnectOptions;
    await expect(connect("http://127.0.0.1:1", options)).rejects.toThrow(
      'connect has no option "bearer". Set auth: { bearer }. connect has no option "apiKey". Set auth: { apiKey }.',
    );
  });

  it("has an invalid URL", async () => {
    await expect(connect("ftp://example.com")).rejects.toThrow("url: ");
    await expect(connect("")).rejects.toThrow("url: ");
  });

  it("redirects to another host, without receiving credentials [M-10]", async () => {
    const thief = await serveCards({ [WELL_KNOWN]: buildTestAgentCard });
    const { url } = await startRequestRecordingTestServer((response) =>
      response.writeHead(302, { location: thief.url }).end(),
    );
    await expect(connect(url, { headers: { authorization: "Bearer secret" } })).rejects.toThrow(
      `redirects to ${thief.url}`,
    );
    expect(thief.seen).toEqual([]);
  });
});

describe("the interface of an agent", () => {
  type BindingVersion = readonly [protocolBinding: string, protocolVersion: string];

  /** Returns the interface that is chosen for a card with these interfaces, or the error. */
  async function chosen(
    alternatives: readonly BindingVersion[],
    options: ConnectOptions = {},
  ): Promise<string> {
    const supportedInterfaces = alternatives.map(([protocolBinding, protocolVersion]) => {
      return { url: "http://agent.example/a2a", protocolBinding, protocolVersion };
    });
    const { url } = await serveCards({ [WELL_KNOWN]: () => buildTestAgentCard("", { supportedInterfaces }) });
    const { agentInterface } = await connect(url, options);
    return `${agentInterface.protocolBinding} ${agentInterface.protocolVersion}`;
  }

  it("is the first supported one of the card, newest version first [A-03, B-09]", async () => {
    const alternatives: BindingVersion[] = [
      ["urn:x:pigeons", "1.0"],
      ["JSONRPC", "2.0"],
      ["JSONRPC", "0.3"],
      ["HTTP+JSON", "1.0.1"],
      ["GRPC", "1.0"],
      ["JSONRPC", "1.0"],
    ];
    expect(await chosen(alternatives)).toBe("HTTP+JSON 1.0.1");
    expect(await chosen(alternatives.slice(4))).toBe("GRPC 1.0");
    // gRPC would bypass a custom `fetch`.
    expect(await chosen(alternatives.slice(4), { fetch: (...input) => fetch(...input) })).toBe("JSONRPC 1.0");
    expect(await chosen(alternatives.slice(4), { fetch: (...input) => fetch(...input), grpc: {} })).toBe(
      "GRPC 1.0",
    );
    expect(await chosen(alternatives, { binding: "JSONRPC" })).toBe("JSONRPC 1.0");
    expect(await chosen(alternatives, { binding: "GRPC" })).toBe("GRPC 1.0");
    expect(await chosen([["JSONRPC", "0.3.0"]])).toBe("JSONRPC 0.3.0");
  });

  it("may be pinned to a version [B-09]", async () => {
    const alternatives: BindingVersion[] = [
      ["JSONRPC", "1.0"],
      ["HTTP+JSON", "0.3"],
    ];
    expect(await chosen(alternatives, { version: "0.3" })).toBe("HTTP+JSON 0.3");
    await expect(chosen(alternatives, { version: "0.3", binding: "JSONRPC" })).rejects.toMatchObject({
      reason: "VERSION_NOT_SUPPORTED",
      message: `"Raw" does not offer JSONRPC at A2A 0.3; its card offers JSONRPC 1.0, HTTP+JSON 0.3.`,
    });
    await expect(chosen([["JSONRPC", "0.3"]], { version: "1.0" })).rejects.toThrow(
      "its card offers JSONRPC 0.3.",
    );
    await expect(chosen([["JSONRPC", "0.2"]])).rejects.toThrow(
      "at A2A 1.0 or 0.3; its card offers JSONRPC 0.2.",
    );
    await expect(chosen([])).rejects.toThrow("its card offers nothing.");
  });

  it("never silently uses an older version than the agent supports [B-09]", async () => {
    const alternatives: BindingVersion[] = [
      ["JSONRPC", "1.0"],
      ["HTTP+JSON", "0.3"],
    ];
    await expect(chosen(alternatives, { binding: "HTTP+JSON" })).rejects.toMatchObject({
      reason: "VERSION_NOT_SUPPORTED",
      message: expect.stringContaining("{ allowOlderVersion: true }") as string,
    });
    expect(await chosen(alternatives, { binding: "HTTP+JSON", allowOlderVersion: true })).toBe(
      "HTTP+JSON 0.3",
    );
  });

  it("is found in a 0.3 card, and in a combined card", async () => {
    const old = {
      protocolVersion: "0.3.0",
      url: "/old/rpc",
      additionalInterfaces: [
        { url: "/old/rpc", transport: "JSONRPC" },
        { url: "/old/rest", transport: "HTTP+JSON" },
      ],
    };
    const { url } = await serveCards({
      "/old.json": () => ({ ...buildTestAgentCard(""), supportedInterfaces: undefined, ...old }),
      "/both.json": (at) => ({ ...buildTestAgentCard(at), ...old }),
    });
    const only = await connect(`${url}/old.json`);
    expect(only.card.supportedInterfaces).toEqual([
      {
        url: `${url}/old/rpc`,
        protocolBinding: "JSONRPC",
        protocolVersion: expect.stringMatching(/^0\.3/) as string,
      },
      {
        url: `${url}/old/rest`,
        protocolBinding: "HTTP+JSON",
        protocolVersion: expect.stringMatching(/^0\.3/) as string,
      },
    ]);
    expect((await connect(`${url}/both.json`)).agentInterface).toMatchObject({
      url: `${url}/rpc`,
      protocolVersion: "1.0",
    });
    expect((await connect(`${url}/both.json`, { version: "0.3" })).agentInterface.url).toBe(`${url}/old/rpc`);
  });
});
