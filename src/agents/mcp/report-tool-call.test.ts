import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent, type AgentGenerator } from "../adapters/index.ts";
import { connect } from "../../client/index.ts";
import type { AgentCallReport } from "../../engine/index.ts";
import { createServer, type ServerOptions } from "../../server/index.ts";
import { createMcpToolClient } from "./index.ts";
import { serveTestToolsOverHttp } from "./mcp-tool-server.fixture.ts";

let toolServer: Awaited<ReturnType<typeof serveTestToolsOverHttp>>;
beforeAll(async () => {
  toolServer = await serveTestToolsOverHttp();
});
afterAll(() => toolServer.close());

/** Sends a message to an agent, and returns the calls that its server has observed. */
async function reportCalls(work: AgentGenerator, options: ServerOptions = {}): Promise<AgentCallReport[]> {
  const calls: AgentCallReport[] = [];
  const server = createServer(agent({ name: "worker", description: "Works" }, work), {
    store: "memory",
    observer: { onAgentCall: ({ call }) => calls.push(call) },
    ...options,
  });
  onTestFinished(() => server.close());
  await (await connect((await server.listen()).url)).send("go");
  return calls;
}

describe("a tool call of an MCP tool client", () => {
  it("is reported to the server of the agent that makes the call", async () => {
    const tools = createMcpToolClient({ url: toolServer.url });
    onTestFinished(() => tools.close());
    const calls = await reportCalls(async function* ({ signal }) {
      await tools.callTool("echo", { city: "Seoul" }, { signal });
      yield* tools.streamTool("fail", {}, { signal });
      await tools.callTool("nonsense", {}, { signal }).catch(() => {});
      yield "done";
    });
    expect(calls).toMatchObject([
      {
        kind: "tool",
        server: "tools",
        tool: "echo",
        arguments: { city: "Seoul" },
        result: { city: "Seoul" },
      },
      { kind: "tool", server: "tools", tool: "fail", error: "No such city." },
      {
        kind: "tool",
        server: "tools",
        tool: "nonsense",
        error: expect.stringContaining("refused") as string,
      },
    ]);
    for (const { durationMs } of calls) expect(durationMs).toBeGreaterThan(0);
  });

  it("is reported without traces, if the tool receives the run of the agent", async () => {
    const tools = createMcpToolClient({ url: toolServer.url });
    onTestFinished(() => tools.close());
    const calls = await reportCalls(
      async function* (run) {
        const { text } = yield* tools.streamTool("echo", { a: 1 }, { run });
        yield text;
      },
      { telemetry: false },
    );
    expect(calls).toMatchObject([{ kind: "tool", tool: "echo", result: { a: 1 } }]);
  });
});
