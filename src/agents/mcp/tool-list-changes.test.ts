import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as Client2025 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http2025 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { PassThrough } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { findTestPort, listenOnRestartPort } from "../../../test/support/test-ports.ts";
import { agent } from "../adapters/index.ts";
import type { Agent } from "../../engine/index.ts";
import { createServer } from "../../server/index.ts";
import { createMcpServer, type McpServer } from "./index.ts";

function createAgentWithSkills(...ids: string[]): Agent {
  const skills = ids.map((id) => ({ id, name: id, description: id, tags: [] }));
  return agent({ name: "parrot", description: "Repeats", skills }, async function* ({ text }) {
    yield text;
  });
}

/** Serves tools for an agent that `addSkill` replaces with an agent with another skill. */
async function serveChangingTools(): Promise<{ mcp: McpServer; addSkill: () => Promise<void> }> {
  const first = createServer({ parrot: createAgentWithSkills("say") }, { store: "memory" });
  const { agents, port } = await first.listen({ port: await findTestPort() });
  const mcp = await createMcpServer(
    { parrot: agents[0]?.url ?? "" },
    {
      connectOptions: {
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          const headers = new Headers(response.headers);
          // The card is never fresh, so each refresh fetches the card.
          headers.delete("cache-control");
          return new Response(response.body, { status: response.status, headers });
        },
      },
    },
  );
  onTestFinished(() => mcp.close());
  return {
    mcp,
    addSkill: async () => {
      await first.close({ graceMs: 0 });
      const second = createServer({ parrot: createAgentWithSkills("say", "sing") }, { store: "memory" });
      await listenOnRestartPort(() => second.listen({ port }));
      onTestFinished(() => second.close({ graceMs: 0 }));
    },
  };
}

const TOOLS_BEFORE = ["parrot_say"];
const TOOLS_AFTER = ["parrot_say", "parrot_sing"];

it("notifies hosts of 2026 when an agent has another skill", async () => {
  const { mcp, addSkill } = await serveChangingTools();
  const changed = Promise.withResolvers<string[]>();
  const host = new Client(
    { name: "host", version: "1" },
    {
      versionNegotiation: { mode: "auto" },
      listChanged: {
        tools: { onChanged: (_error, tools) => changed.resolve((tools ?? []).map(({ name }) => name)) },
      },
    },
  );
  await host.connect(new StreamableHTTPClientTransport(new URL((await mcp.listen()).url)));
  onTestFinished(() => host.close());
  expect((await host.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS_BEFORE);
  expect(await mcp.refreshTools()).toBe(false);
  await addSkill();
  // The first request may still reach the old server over an open connection.
  await expect.poll(() => mcp.refreshTools()).toBe(true);
  expect(await changed.promise).toEqual(TOOLS_AFTER);
  expect(mcp.tools.map(({ name }) => name)).toEqual(TOOLS_AFTER);
  expect(await mcp.refreshTools()).toBe(false);
});

it("notifies hosts of 2025 when an agent has another skill", async () => {
  const { mcp, addSkill } = await serveChangingTools();
  const changed = Promise.withResolvers<void>();
  const host = new Client2025({ name: "host", version: "1" });
  host.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
  const streamOpened = Promise.withResolvers<number>();
  const { url } = await mcp.listen();
  await host.connect(
    new Http2025(new URL(url), {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        // The client opens its notification stream in the background.
        if (init?.method === "GET") streamOpened.resolve(response.status);
        return response;
      },
    }),
  );
  onTestFinished(() => host.close());
  expect(await streamOpened.promise).toBe(200);
  await addSkill();
  // The first request may still reach the old server over an open connection.
  await expect.poll(() => mcp.refreshTools()).toBe(true);
  await changed.promise;
  expect((await host.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS_AFTER);
});

it("notifies a host over stdio", async () => {
  const { mcp, addSkill } = await serveChangingTools();
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const lines: { id?: number; method?: string }[] = [];
  stdout.on("data", (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split("\n"))
      lines.push(JSON.parse(line) as { method?: string });
  });
  const served = mcp.serveStdio({ stdin, stdout });
  const send = (message: object): void =>
    void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "host", version: "1" };
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  await expect.poll(() => lines.map(({ id }) => id)).toContain(1);
  send({ method: "notifications/initialized" });
  await addSkill();
  await expect.poll(() => mcp.refreshTools()).toBe(true);
  await expect.poll(() => lines.map(({ method }) => method)).toContain("notifications/tools/list_changed");
  stdin.end();
  await served;
});

it("keeps the tools of an agent that is unreachable", async () => {
  const server = createServer({ parrot: createAgentWithSkills("say") }, { store: "memory" });
  const { agents } = await server.listen();
  const reports: string[] = [];
  const mcp = await createMcpServer(
    { parrot: agents[0]?.url ?? "" },
    {
      connectOptions: {
        retry: { maxRetries: 0 },
        fetch: async (input, init) => new Response((await fetch(input, init)).body),
      },
      observer: { onError: ({ where }) => reports.push(where) },
    },
  );
  onTestFinished(() => mcp.close());
  await server.close({ graceMs: 0 });
  expect(await mcp.refreshTools()).toBe(false);
  expect(mcp.tools.map(({ name }) => name)).toEqual(TOOLS_BEFORE);
  expect(reports).toEqual(["the card of parrot"]);
});
