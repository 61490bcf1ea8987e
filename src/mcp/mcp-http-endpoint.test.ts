import { request as httpRequest } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../adapters/index.ts";
import { connectHost2025, connectHost2026 } from "./mcp-hosts.fixture.ts";
import { createMcpServer, type McpServer, type McpServerOptions } from "./index.ts";
import { createScriptedAgent, serveScriptedAgent } from "./scripted-agent.fixture.ts";

const LIST_TOOLS_REQUEST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

async function createTestServer(options?: McpServerOptions): Promise<McpServer> {
  const server = await createMcpServer({ parrot: createScriptedAgent({ streaming: true }) }, options);
  onTestFinished(() => server.close());
  return server;
}

/** `fetch` sets Host and Origin by itself. */
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
  it("refuses what reaches it under a foreign name, or from a foreign page", async () => {
    const { url } = await (await createTestServer()).listen();
    expect(await postForStatus(url, { host: "evil.example" })).toBe(403);
    expect(await postForStatus(url, { origin: "https://evil.example" })).toBe(403);
    expect(await postForStatus(url, { origin: "null" })).toBe(403);
    // Not a session of 2025 and no envelope of 2026, but let in.
    expect(await postForStatus(url, { origin: "http://localhost:6274", accept: "*/*" })).toBe(406);
  });

  it("lets in those names that it is told of", async () => {
    const server = await createTestServer({ allowedHosts: ["mcp.example.com"] });
    const ask = async (host: string): Promise<number> => {
      const headers = { "content-type": "application/json", host };
      const request = new Request(`https://${host}/mcp`, {
        method: "POST",
        headers,
        body: JSON.stringify(LIST_TOOLS_REQUEST),
      });
      return (await server.fetch(request)).status;
    };
    expect(await ask("mcp.example.com")).toBe(406);
    expect(await ask("other.example.com")).toBe(403);
  });

  it("is at /mcp, on this machine only", async () => {
    const { url } = await (await createTestServer()).listen();
    expect(new URL(url)).toMatchObject({ hostname: "127.0.0.1", pathname: "/mcp" });
    const other = await fetch(new URL("/other", url), { method: "POST" });
    expect(other.status).toBe(404);
    expect(await other.text()).toContain("/mcp");
  });

  it("tells a host of 2025 whose session is over to begin another", async () => {
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

  it("forgets the session that was used least when there are too many", async () => {
    const { url } = await (await createTestServer()).listen();
    const first = await connectHost2025({ url });
    const second = await connectHost2025({ url });
    for (let others = 0; others < 199; others++) {
      await (await connectHost2025({ url })).close();
      if (others === 100) await first.listTools();
    }
    expect(await first.listTools()).toHaveLength(2);
    await expect(second.listTools()).rejects.toThrow("begin a new one");
  });

  it("says which port is taken", async () => {
    const { url } = await (await createTestServer()).listen();
    const port = Number(new URL(url).port);
    await expect((await createTestServer()).listen({ port })).rejects.toThrow(String(port));
  });
});

describe("the agents of an MCP server", () => {
  it("are of this process, or connected to, or at a URL", async () => {
    const away = await serveScriptedAgent();
    onTestFinished(() => away.close());
    const greeter = agent({ name: "greeter", description: "Greets" }, async function* ({ text }) {
      yield `Hello, ${text}!`;
    });
    const shy = agent({ name: "shy", description: "Says little" }, async function* () {
      yield "…";
    });
    const server = await createMcpServer({ greeter, shy, parrot: away.url });
    onTestFinished(() => server.close());
    expect(server.tools.map(({ name }) => name)).toEqual(["greeter", "shy", "parrot_say", "parrot_count"]);
    const host = await connectHost2026(await server.listen());
    onTestFinished(() => host.close());
    const { content } = await host.callTool("greeter", { message: "Ada" });
    expect(content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
  });

  it("need not stream: their tasks are looked at, and cancelled all the same", async () => {
    const parrot = await serveScriptedAgent(false);
    onTestFinished(() => parrot.close());
    const server = await createMcpServer({ parrot: parrot.url });
    onTestFinished(() => server.close());
    const host = await connectHost2026(await server.listen());
    onTestFinished(() => host.close());
    parrot.finishWork();
    const { structuredContent } = await host.callTool("parrot_say", { message: "work" });
    expect(structuredContent).toMatchObject({ state: "TASK_STATE_COMPLETED", text: "one two three" });
    const asked = await host.callTool("parrot_say", { message: "ask" });
    expect(asked.structuredContent).toMatchObject({
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

  it("may know A2A 0.3 only", async () => {
    const parrot = await serveScriptedAgent(true, { versions: ["0.3"] });
    onTestFinished(() => parrot.close());
    const server = await createMcpServer({ parrot: parrot.url });
    onTestFinished(() => server.close());
    const host = await connectHost2026(await server.listen());
    onTestFinished(() => host.close());
    const { structuredContent } = await host.callTool("parrot_say", { message: "show" });
    expect(structuredContent?.artifacts.map(({ name }) => name)).toEqual([
      undefined,
      "facts",
      "picture",
      "report",
    ]);
    const asked = await host.callTool("parrot_say", { message: "ask" });
    const taskId = asked.structuredContent?.taskId;
    const told = await host.callTool("parrot_say", { message: "Jeju", taskId });
    expect(told.structuredContent).toMatchObject({
      state: "TASK_STATE_COMPLETED",
      text: "You live in Jeju.",
    });
    const stop = new AbortController();
    const onprogress = (): void => stop.abort(new Error("enough"));
    const call = host.callTool("parrot_say", { message: "wait" }, { signal: stop.signal, onprogress });
    await expect(call).rejects.toThrow();
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
  });

  it("have their tasks cancelled when the server closes", async () => {
    const parrot = await serveScriptedAgent();
    onTestFinished(() => parrot.close());
    const server = await createMcpServer({ parrot: parrot.url });
    const host = await connectHost2026(await server.listen());
    onTestFinished(() => host.close());
    const call = host.callTool("parrot_say", { message: "wait" }, { onprogress: () => void server.close() });
    call.catch(() => {});
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
    expect(parrot.stateRecorder.states).not.toContain("TASK_STATE_COMPLETED");
  });

  it("must be there when the server begins", async () => {
    await expect(createMcpServer({ nobody: "http://127.0.0.1:9" })).rejects.toThrow("127.0.0.1:9");
  });
});
