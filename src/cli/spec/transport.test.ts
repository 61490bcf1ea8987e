import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import type { Agent } from "../../engine/index.ts";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
  sendTestJsonResponse,
  type RecordedTestRequest,
} from "../../client/request-recording-test-server.fixture.ts";
import { bearer } from "../../server/auth/index.ts";
import { createServer } from "../../server/index.ts";
import { createTempTestDirectoryWithFiles, runCliInTestProcess } from "../cli-test-process.fixture.ts";
import {
  instructionFollowingTestAgent,
  startInstructionFollowingTestServer,
  TEST_SERVERS,
  type RunningTestServer,
} from "./test-servers.fixture.ts";
import { runCliExpectingError, runCliForJson, runCliExpectingSuccess } from "./run-command.fixture.ts";

/** Starts an agent on two bindings with a custom card. It answers every message. */
async function startAgentWithInterfaces(
  interfaces: (url: string) => object[],
  about: object = {},
): Promise<{ url: string; seen: RecordedTestRequest[] }> {
  let url = "";
  const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hi" }] };
  const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
  const server = await startRequestRecordingTestServer((response, { url: path, method, body }) => {
    if (path.includes("/.well-known/")) {
      return sendTestJsonResponse(
        response,
        buildTestAgentCard(url, { supportedInterfaces: interfaces(url), capabilities: {}, ...about }),
      );
    }
    const result = method === "GET" || body.method === "GetTask" ? task : { message };
    sendTestJsonResponse(
      response,
      body.method === undefined ? result : { jsonrpc: "2.0", id: body.id, result },
    );
  });
  ({ url } = server);
  return { url, seen: server.seen };
}

const createCardInterface = (
  url: string,
  protocolBinding: string,
  protocolVersion = "1.0",
  moreMembers: object = {},
): object => ({
  url: `${url}/${protocolBinding}`,
  protocolBinding,
  protocolVersion,
  ...moreMembers,
});

const getUsedTransport = (requests: readonly RecordedTestRequest[]): string | undefined =>
  requests.findLast(({ url }) => !url.includes("/.well-known/"))?.url.split("/")[1];

describe("the transport", () => {
  it.each([
    ["JSONRPC", ["JSONRPC", "HTTP+JSON"]],
    ["HTTP+JSON", ["HTTP+JSON", "JSONRPC"]],
    ["JSONRPC", ["CARRIER-PIGEON", "JSONRPC", "HTTP+JSON"]],
  ])(
    'default "transport": %s of %j, the first that is spoken [TX_001, TX_002, DEFAULT_001]',
    async (used, order) => {
      const { url, seen } = await startAgentWithInterfaces((baseUrl) =>
        order.map((binding) => createCardInterface(baseUrl, binding)),
      );
      await runCliExpectingSuccess(["send", url, "hello"]);
      expect(getUsedTransport(seen)).toBe(used);
    },
  );

  it.each([
    ["HTTP+JSON", ["--transport", "rest"]],
    ["HTTP+JSON", ["--transport", "grpc", "--transport", "rest", "--transport", "jsonrpc"]],
    ["JSONRPC", ["--transport", "grpc"]],
  ])(
    "%s with %j: the first that the card has, or else the card's own [TX_002, DEFAULT_001]",
    async (used, flags) => {
      const { url, seen } = await startAgentWithInterfaces((baseUrl) => [
        createCardInterface(baseUrl, "JSONRPC"),
        createCardInterface(baseUrl, "HTTP+JSON"),
      ]);
      await runCliExpectingSuccess(["send", url, "hello", ...flags]);
      expect(getUsedTransport(seen)).toBe(used);
    },
  );

  it("sends the tenant of its interface, if any, in every request [TX_003]", async () => {
    const { url, seen } = await startAgentWithInterfaces((baseUrl) => [
      createCardInterface(baseUrl, "JSONRPC", "1.0", { tenant: "Acme/7" }),
      createCardInterface(baseUrl, "HTTP+JSON"),
    ]);
    await runCliExpectingSuccess(["send", url, "hello"]);
    await runCliExpectingSuccess(["task", "get", url, "t"]);
    expect(seen.flatMap(({ body }) => (body.method ? [body.params?.["tenant"]] : []))).toEqual([
      "Acme/7",
      "Acme/7",
    ]);
    const before = seen.length;
    await runCliExpectingSuccess(["send", url, "hello", "--transport", "rest"]);
    expect(
      seen
        .slice(before)
        .map(({ text }) => text)
        .join(""),
    ).not.toContain("tenant");
    expect(seen.at(-1)?.url).toBe("/HTTP+JSON/message:send");
  });
});

describe.each(TEST_SERVERS)("%s is called over each binding", (_, serve) => {
  let served: RunningTestServer;
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.close());

  it.each(["jsonrpc", "rest", "grpc"])("%s, with the same result [TX_004, TX_005]", async (binding) => {
    const result = await runCliForJson<{ task: { status: object; artifacts: object[] } }>([
      "send",
      served.url,
      "hello",
      "--transport",
      binding,
    ]);
    expect(result).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    const { err } = await runCliExpectingSuccess([
      "send",
      served.url,
      "hello",
      "--transport",
      binding,
      "--debug",
    ]);
    const names: Record<string, string> = { jsonrpc: "JSONRPC", rest: "HTTP+JSON", grpc: "GRPC" };
    expect(err).toContain(`debug: speaks ${names[binding]} 1.0 with `);
  });
});

describe("the version", () => {
  it('default "version": 1.0 is named in every request, for the card too [VER_001, DEFAULT_001]', async () => {
    const { url, seen } = await startAgentWithInterfaces((baseUrl) => [
      createCardInterface(baseUrl, "JSONRPC", "0.3"),
      createCardInterface(baseUrl, "JSONRPC"),
    ]);
    await runCliExpectingSuccess(["send", url, "hello"]);
    await runCliExpectingSuccess(["task", "get", url, "t"]);
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.map(({ headers }) => headers["a2a-version"])).toEqual(seen.map(() => "1.0"));
    // The patch number is not part of the protocol version.
    const patched = await startAgentWithInterfaces((baseUrl) => [
      createCardInterface(baseUrl, "JSONRPC", "1.0.1"),
    ]);
    await runCliExpectingSuccess(["send", patched.url, "hello"]);
  });

  it("is 0.3 for an agent whose card offers only 0.3, unless the user requests 1.0 [VER_001]", async () => {
    const generate = async function* ({ text }: { text: string }) {
      yield `You said: ${text}`;
    };
    const old = agent({ name: "old", description: "Supports A2A 0.3" }, generate);
    const server = createServer(old, { store: "memory", versions: ["0.3"] });
    const { url } = await server.listen();
    expect((await runCliExpectingSuccess(["send", url, "hello"])).out).toContain("You said: hello");
    const error = await runCliExpectingError(["send", url, "hello", "--a2a-version", "1.0"]);
    expect(error).toMatchObject({ code: "VersionNotSupportedError", exit: 1 });
    await server.close();
  });

  it("is 0.3 on request [VER_001, DEFAULT_001]", async () => {
    const served = await startInstructionFollowingTestServer();
    const { out, err } = await runCliExpectingSuccess([
      "send",
      served.url,
      "hello",
      "--a2a-version",
      "0.3",
      "--debug",
    ]);
    expect(out).toContain("You said: hello");
    expect(err).toContain("debug: speaks JSONRPC 0.3");
    await served.close();
  });

  it("that the agent rejects is reported with the agent's message [VER_001]", async () => {
    let url = "";
    const server = await startRequestRecordingTestServer((response, { url: path, body: { id } }) =>
      path.includes("/.well-known/")
        ? sendTestJsonResponse(response, buildTestAgentCard(url))
        : sendTestJsonResponse(response, {
            jsonrpc: "2.0",
            id,
            error: { code: -32009, message: "Only 2.0 here" },
          }),
    );
    ({ url } = server);
    expect(await runCliExpectingError(["send", url, "hello"])).toMatchObject({
      code: "VersionNotSupportedError",
      a2aCode: -32009,
      exit: 1,
    });
  });
});

describe("a server with several agents", () => {
  it("is reported with the agent that the command chose, unless the URL names an agent", async () => {
    const generate = async function* () {
      yield "hi";
    };
    const [first, second] = ["first", "second"].map((name) => agent({ name, description: name }, generate));
    const server = createServer({ first, second } as Record<string, Agent>, { store: "memory" });
    const { url } = await server.listen();
    const { err } = await runCliExpectingSuccess(["send", url, "hello"]);
    expect(err).toBe(
      `note: ${url} has 2 agents. This command uses ${url}/a2a/first. Other agents: ${url}/a2a/second\n`,
    );
    const named = await runCliExpectingSuccess(["send", `${url}/a2a/second`, "hello"]);
    expect(named.err).toBe("");
    await server.close();
  });
});

describe("features that the card does not declare", () => {
  it("are not requested: no stream, no extended card [VER_003]", async () => {
    const { url, seen } = await startAgentWithInterfaces((baseUrl) => [
      createCardInterface(baseUrl, "JSONRPC"),
    ]);
    await runCliExpectingSuccess(["send", url, "hello", "--stream"]);
    expect(seen.at(-1)?.body.method).toBe("SendMessage");
    const before = seen.length;
    expect(await runCliExpectingError(["card", "get", url, "--extended"])).toMatchObject({
      code: "UnsupportedOperationError",
    });
    expect(seen.slice(before).every(({ url }) => url.includes("/.well-known/"))).toBe(true);
  });

  it("and required extensions are declared with --extension, or rejected at once [VER_002]", async () => {
    const extensions = [{ uri: "urn:example:cite", required: true }];
    const { url, seen } = await startAgentWithInterfaces(
      (baseUrl) => [createCardInterface(baseUrl, "JSONRPC")],
      {
        capabilities: { extensions },
      },
    );
    const refused = await runCliExpectingError(["send", url, "hello"]);
    expect(refused).toMatchObject({ code: "ExtensionSupportRequiredError" });
    expect(refused.hint).toContain("--extension");
    await runCliExpectingSuccess(["send", url, "hello", "--extension", "urn:example:cite"]);
    expect(seen.at(-1)?.headers["a2a-extensions"]).toBe("urn:example:cite");
  });
});

describe("the card", () => {
  it("is found by host, by URL, and in a file, and determines the transport [CARD_GET_001]", async () => {
    const { url, seen } = await startAgentWithInterfaces((baseUrl) => [
      createCardInterface(baseUrl, "HTTP+JSON"),
      createCardInterface(baseUrl, "JSONRPC"),
    ]);
    const card = await runCliForJson<object>(["card", "get", url]);
    const cwd = await createTempTestDirectoryWithFiles({ "card.json": JSON.stringify(card) });
    for (const ref of [
      url,
      url.replace("http://", ""),
      `${url}/.well-known/agent-card.json`,
      `file://${cwd}/card.json`,
      `${cwd}/card.json`,
    ]) {
      expect(await runCliForJson(["card", "get", "-a", ref])).toEqual(card);
      await runCliExpectingSuccess(["send", "-a", ref, "hello"]);
      expect(getUsedTransport(seen)).toBe("HTTP+JSON");
    }
  });

  it("shows the agent's identity, skills, interfaces, and security schemes [CARD_GET_001]", async () => {
    const server = createServer(instructionFollowingTestAgent, {
      store: "memory",
      authenticate: bearer({ tokens: { "token-0123456789abcdef": "a" } }),
    });
    const { url } = await server.listen();
    const { out } = await runCliExpectingSuccess(["card", "get", url]);
    for (const label of [
      "Name: actor",
      "Streaming: yes",
      "Push notifications: ",
      "Extended card: ",
      `Interface: JSONRPC 1.0 ${url}`,
      "Security: ",
      "Skill: ",
    ]) {
      expect(out).toContain(label);
    }
    await server.close();
  });

  it("can be checked with --validate [CARD_GET_002]", async () => {
    const fine = await startAgentWithInterfaces((baseUrl) => [createCardInterface(baseUrl, "JSONRPC")], {
      skills: [{ id: "s", name: "S", description: "S", tags: ["s"] }],
    });
    expect((await runCliExpectingSuccess(["card", "get", fine.url, "--validate"])).out).toContain(
      "Name: Raw",
    );
    const odd = await startAgentWithInterfaces((baseUrl) => [createCardInterface(baseUrl, "JSONRPC")], {
      skills: [{ id: "s" }],
    });
    expect(await runCliExpectingError(["card", "get", odd.url, "--validate"])).toMatchObject({
      code: "A2ACLI_ERR_CARD_INVALID",
      exit: 1,
    });
  });

  it("can be the extended one, with a scheme of the public one [CARD_GET_003]", async () => {
    const polite = agent(
      { name: "polite", description: "Has more to say", capabilities: { extendedAgentCard: true } },
      async function* () {},
      { describeExtended: () => ({ description: "Says all of it" }) },
    );
    const tokens = { "token-of-ada-0123456789": "ada" };
    const server = createServer(polite, { store: "memory", authenticate: bearer({ tokens }) });
    const { url } = await server.listen();
    const words = ["card", "get", url, "--extended"];
    expect(await runCliExpectingError(words)).toMatchObject({
      code: "A2ACLI_ERR_CREDENTIALS_MISSING",
      exit: 4,
    });
    const { out } = await runCliExpectingSuccess([...words, "--bearer", "token-of-ada-0123456789"]);
    expect(out).toContain("Description: Says all of it");
    expect((await runCliInTestProcess(["card", "get", url])).out).toContain("Description: Has more to say");
    await server.close();
  });
});
