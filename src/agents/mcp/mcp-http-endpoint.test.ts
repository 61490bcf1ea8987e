import { request as httpRequest } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../adapters/index.ts";
import { connectTestMcpHost2025, connectTestMcpHost2026 } from "./mcp-hosts.fixture.ts";
import { createMcpServer, type McpServer, type McpServerOptions } from "./index.ts";
import { createScriptedAgent, serveScriptedAgent } from "./scripted-agent.fixture.ts";

const LIST_TOOLS_REQUEST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

async function createTestServer(options?: McpServerOptions): Promise<McpServer> {
  const server = await createMcpServer({ parrot: createScriptedAgent({ streaming: true }) }, options);
  onTestFinished(() => server.close());
  return server;
}

/** Sends a POST with explicit Host and Origin headers, which `fetch` does not allow. */
function postForStatus(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
    });
    sent.on("error", reject).on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.end(JSON.stringify(LIST_TOOLS_REQUEST));
  });
}

describe("MCP over HTTP", () => {
  it("rejects requests with a foreign Host or Origin header", async () => {
    const { url } = await (await createTestServer()).listen();
    expect(await postForStatus(url, { host: "evil.example" })).toBe(403);
    expect(await postForStatus(url, { origin: "https://evil.example" })).toBe(403);
    expect(await postForStatus(url, { origin: "null" })).toBe(403);
    // The request is accepted, but it is neither part of a 2025 session nor a 2026 envelope.
    expect(await postForStatus(url, { origin: "http://localhost:6274", accept: "*/*" })).toBe(406);
  });

  it("replies with 413 before the client has sent a body that is too large", async () => {
    const { url } = await (await createTestServer()).listen();
    const headers = { "content-type": "application/json", "content-length": 2 ** 40 };
    const sent = httpRequest(url, { method: "POST", headers });
    sent.on("error", () => {});
    sent.flushHeaders();
    const status = await new Promise((resolve) =>
      sent.on("response", ({ statusCode }) => resolve(statusCode)),
    );
    expect(status).toBe(413);
    sent.destroy();
  });

  it("stops reading a body without a length at the limit", async () => {
    const server = await createTestServer();
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(2 ** 20).fill(32));
        pulled++;
      },
    });
    const headers = {
      "content-type": "application/json",
      host: "localhost",
      accept: "application/json, text/event-stream",
    };
    const request = new Request("http://localhost/mcp", { method: "POST", headers, body, duplex: "half" });
    expect((await server.fetch(request)).status).toBe(413);
    expect(pulled).toBeLessThan(15);
  });

  it("accepts the host names in allowedHosts", async () => {
    const server = await createTestServer({ allowedHosts: ["mcp.example.com"] });
    const requestWithHost = async (host: string): Promise<number> => {
      const headers = { "content-type": "application/json", host };
      const request = new Request(`https://${host}/mcp`, {
        method: "POST",
        headers,
        body: JSON.stringify(LIST_TOOLS_REQUEST),
      });
      return (await server.fetch(request)).status;
    };
    expect(await requestWithHost("mcp.example.com")).toBe(406);
    expect(await requestWithHost("other.example.com")).toBe(403);
  });

  it("listens at /mcp on the loopback interface", async () => {
    const { url } = await (await createTestServer()).listen();
    expect(new URL(url)).toMatchObject({ hostname: "127.0.0.1", pathname: "/mcp" });
    const other = await fetch(new URL("/other", url), { method: "POST" });
    expect(other.status).toBe(404);
    expect(await other.text()).toContain("/mcp");
  });

  it("returns 404 for the session of a 2025 host that has ended", async () => {
    const { url } = await (await createTestServer()).listen();
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-session-id": "gone",
      },
      body: JSON.stringify(LIST_TOOLS_REQUEST),
    });
    expect(response.status).toBe(404);
  });

  it("closes the least recently used session when there are too many", async () => {
    const { url } = await (await createTestServer()).listen();
    const first = await connectTestMcpHost2025({ url });
    const second = await connectTestMcpHost2025({ url });
    for (let others = 0; others < 199; others++) {
      await (await connectTestMcpHost2025({ url })).close();
      if (others === 100) await first.listTools();
    }
    expect(await first.listTools()).toHaveLength(2);
    await expect(second.listTools()).rejects.toThrow("start a new one");
  });

  it("reports the port that is in use", async () => {
    const { url } = await (await createTestServer()).listen();
    const port = Number(new URL(url).port);
    await expect((await createTestServer()).listen({ port })).rejects.toThrow(String(port));
  });
});

describe("the agents of an MCP server", () => {
  it("can be local agents, connected clients, and URLs", async () => {
    const remoteServer = await serveScriptedAgent();
    onTestFinished(() => remoteServer.close());
    const greeter = agent({ name: "greeter", description: "Greets" }, async function* ({ text }) {
      yield `Hello, ${text}!`;
    });
    const shy = agent({ name: "shy", description: "Says little" }, async function* () {
      yield "…";
    });
    const server = await createMcpServer({ greeter, shy, parrot: remoteServer.url });
    onTestFinished(() => server.close());
    expect(server.tools.map(({ name }) => name)).toEqual(["greeter", "shy", "parrot_say", "parrot_count"]);
    const host = await connectTestMcpHost2026(await server.listen());
    onTestFinished(() => host.close());
    const { content } = await host.callTool("greeter", { message: "Ada" });
    expect(content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
  });

  it("can be non-streaming: their tasks are polled and canceled", async () => {
    const parrot = await serveScriptedAgent(false);
    onTestFinished(() => parrot.close());
    const server = await createMcpServer({ parrot: parrot.url });
    onTestFinished(() => server.close());
    const host = await connectTestMcpHost2026(await server.listen());
    onTestFinished(() => host.close());
    parrot.finishWork();
    const { structuredContent } = await host.callTool("parrot_say", { message: "work" });
    expect(structuredContent).toMatchObject({ state: "TASK_STATE_COMPLETED", text: "one two three" });
    const question = await host.callTool("parrot_say", { message: "ask" });
    expect(question.structuredContent).toMatchObject({
      state: "TASK_STATE_INPUT_REQUIRED",
      text: "Which city?",
    });
    const stop = new AbortController();
    parrot.stateRecorder.states.length = 0;
    const call = host.callTool("parrot_say", { message: "wait" }, { signal: stop.signal });
    await parrot.stateRecorder.waitForState("TASK_STATE_WORKING");
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow();
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
  });

  it("can support only A2A 0.3", async () => {
    const parrot = await serveScriptedAgent(true, { versions: ["0.3"] });
    onTestFinished(() => parrot.close());
    const server = await createMcpServer({ parrot: parrot.url });
    onTestFinished(() => server.close());
    const host = await connectTestMcpHost2026(await server.listen());
    onTestFinished(() => host.close());
    const { structuredContent } = await host.callTool("parrot_say", { message: "show" });
    expect(structuredContent?.artifacts.map(({ name }) => name)).toEqual([
      undefined,
      "facts",
      "picture",
      "report",
    ]);
    const question = await host.callTool("parrot_say", { message: "ask" });
    const taskId = question.structuredContent?.taskId;
    const answered = await host.callTool("parrot_say", { message: "Jeju", taskId });
    expect(answered.structuredContent).toMatchObject({
      state: "TASK_STATE_COMPLETED",
      text: "You live in Jeju.",
    });
    const stop = new AbortController();
    const onprogress = (): void => stop.abort(new Error("enough"));
    const call = host.callTool("parrot_say", { message: "wait" }, { signal: stop.signal, onprogress });
    await expect(call).rejects.toThrow();
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
  });

  it("receive cancellations of their tasks when the server closes", async () => {
    const parrot = await serveScriptedAgent();
    onTestFinished(() => parrot.close());
    const server = await createMcpServer({ parrot: parrot.url });
    const host = await connectTestMcpHost2026(await server.listen());
    onTestFinished(() => host.close());
    const call = host.callTool("parrot_say", { message: "wait" }, { onprogress: () => void server.close() });
    call.catch(() => {});
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
    expect(parrot.stateRecorder.states).not.toContain("TASK_STATE_COMPLETED");
  });

  it("must be reachable when the server is created", async () => {
    await expect(createMcpServer({ unreachable: "http://127.0.0.1:9" })).rejects.toThrow("127.0.0.1:9");
  });
});
