import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, fromJsonSchema, McpServer as SdkServer } from "@modelcontextprotocol/server";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { agent, connect, createServer, type RunReport, toNodeListener } from "../../src/entries/colloquy.ts";
import { createMcpServer, createMcpToolClient } from "../../src/entries/mcp.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

describe("a trace", () => {
  it("goes from an agent into the tool call of an MCP server, in _meta and in the headers [E22]", async () => {
    const seen: { meta: unknown; header: string | undefined }[] = [];
    const handler = createMcpHandler(() => {
      const tools = new SdkServer({ name: "tools", version: "1.0.0" });
      const inputSchema = fromJsonSchema<Record<string, unknown>>({ type: "object" });
      tools.registerTool("look", { inputSchema }, (_, { mcpReq, http }) => {
        const header = http?.req?.headers.get("traceparent") ?? undefined;
        seen.push({ meta: mcpReq["_meta"]?.["traceparent"], header });
        return { content: [{ type: "text", text: "seen" }] };
      });
      return tools;
    });
    const http = createHttpServer(toNodeListener((request) => handler.fetch(request)));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => http.close(resolve).closeAllConnections()));
    const client = createMcpToolClient({
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    });
    closers.push(() => client.close());
    const looking = agent({ name: "looking", description: "Calls a tool" }, async function* () {
      yield (await client.callTool("look")).text;
    });
    const server = createServer(looking, { store: "memory" });
    closers.push(() => server.close({ graceMs: 0 }));
    const remote = await connect((await server.listen()).url);
    await remote.ask("Look", { headers: { traceparent: TRACEPARENT, tracestate: "vendor=1" } });
    expect(seen[0]?.meta).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
    expect(seen[0]?.meta).not.toBe(TRACEPARENT);
    expect(seen[0]?.header).toBe(seen[0]?.meta);
    // Outside of an agent, the call has no trace.
    await client.callTool("look");
    expect(seen[1]).toEqual({ meta: undefined, header: undefined });
  });

  it("goes from an MCP host into the agents that are tools [E22]", async () => {
    const runs: RunReport[] = [];
    const echo = agent({ name: "echo", description: "Repeats" }, async function* ({ text }) {
      yield text;
    });
    const mcp = await createMcpServer({ echo }, { observer: { onRun: (run) => runs.push(run) } });
    closers.push(() => mcp.close());
    const { url } = await mcp.listen();
    const host = new Client({ name: "host", version: "1.0.0" });
    await host.connect(new StreamableHTTPClientTransport(new URL(url)));
    closers.push(() => host.close());
    const [tool] = mcp.tools;
    await host.callTool({
      name: tool?.name ?? "",
      arguments: { message: "Hello" },
      _meta: { traceparent: TRACEPARENT },
    });
    expect(runs[0]?.traceparent).toContain(TRACE_ID);
  });
});
