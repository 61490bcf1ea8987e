import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeListener } from "../../server/index.ts";

/** Number of calls and cancellations in this process. */
const testToolCallAndCancelCounts = { called: 0, cancelled: 0 };

let testToolProgressSeenResolvers = Promise.withResolvers<void>();

const ANY_OBJECT_SCHEMA = fromJsonSchema<Record<string, unknown>>({ type: "object" });

/** Creates a server with tools of every kind, using the current SDK. */
function createTestToolServer(): McpServer {
  const server = new McpServer({ name: "tools", version: "1.0.0" });
  server.registerTool(
    "echo",
    {
      title: "Echo",
      description: "Says it again",
      inputSchema: ANY_OBJECT_SCHEMA,
      outputSchema: ANY_OBJECT_SCHEMA,
    },
    (args) => ({ content: [{ type: "text", text: JSON.stringify(args) }], structuredContent: args }),
  );
  server.registerTool("fail", { inputSchema: ANY_OBJECT_SCHEMA }, () => ({
    content: [{ type: "text", text: "No such city." }],
    isError: true,
  }));
  server.registerTool("show", { inputSchema: ANY_OBJECT_SCHEMA }, () => ({
    content: [
      { type: "text", text: "one" },
      { type: "image", data: "AQI=", mimeType: "image/png" },
      {
        type: "resource",
        resource: { uri: "file:///notes/a%20b.md", mimeType: "text/markdown", text: "two" },
      },
      { type: "resource", resource: { uri: "file:///x.bin", blob: "AAE=" } },
      { type: "resource_link", uri: "https://example.com/y", name: "y", mimeType: "text/html" },
    ],
  }));
  server.registerTool("counts", { inputSchema: ANY_OBJECT_SCHEMA }, () => ({
    content: [{ type: "text", text: JSON.stringify(testToolCallAndCancelCounts) }],
  }));
  server.registerTool("seen", { inputSchema: ANY_OBJECT_SCHEMA }, () => {
    testToolProgressSeenResolvers.resolve();
    return { content: [] };
  });
  server.registerTool("variables", { inputSchema: ANY_OBJECT_SCHEMA }, () => ({
    content: [{ type: "text", text: Object.keys(process.env).join(" ") }],
  }));
  server.registerTool("crash", { inputSchema: ANY_OBJECT_SCHEMA }, () => {
    testToolCallAndCancelCounts.called++;
    process.stderr.write("the disk is full\n", () => process.exit(3));
    return new Promise(() => {});
  });
  server.registerTool("steps", { inputSchema: ANY_OBJECT_SCHEMA }, async (_, { mcpReq }) => {
    const progressToken = mcpReq["_meta"]?.progressToken;
    for (const [index, message] of ["first", "second", undefined].entries()) {
      if (progressToken === undefined) break;
      const params = { progressToken, progress: index + 1, total: 3, ...(message ? { message } : {}) };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
    // Clients may process a result before the progress that arrived just before it.
    await testToolProgressSeenResolvers.promise;
    testToolProgressSeenResolvers = Promise.withResolvers();
    return { content: [{ type: "text", text: "done" }] };
  });
  server.registerTool("hang", { inputSchema: ANY_OBJECT_SCHEMA }, async (_, { mcpReq }) => {
    const progressToken = mcpReq["_meta"]?.progressToken;
    if (progressToken !== undefined) {
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    }
    await new Promise<void>((resolve) => {
      mcpReq.signal.addEventListener("abort", () => {
        testToolCallAndCancelCounts.cancelled++;
        resolve();
      });
    });
    return { content: [] };
  });
  return server;
}

/** Serves the tools over streamable HTTP in this process. */
export async function serveTestToolsOverHttp(): Promise<{
  url: string;
  counts: typeof testToolCallAndCancelCounts;
  close: () => Promise<void>;
}> {
  const handler = createMcpHandler(createTestToolServer);
  const http = createServer(toNodeListener((request) => handler.fetch(request)));
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    counts: testToolCallAndCancelCounts,
    close: async () => {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Serves a tool with MCP of 2025, which has sessions, using the previous SDK. */
export async function serveTestToolOverMcp2025(): Promise<{
  url: string;
  forget: () => void;
  close: () => Promise<void>;
}> {
  const { McpServer: Server2025 } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StreamableHTTPServerTransport } =
    await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const sessions = new Map<string, InstanceType<typeof StreamableHTTPServerTransport>>();
  const startSession = async (): Promise<InstanceType<typeof StreamableHTTPServerTransport>> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = new Server2025({ name: "old", version: "1" });
    server.registerTool("hello", {}, () => ({ content: [{ type: "text", text: "hello" }] }));
    await server.connect(transport);
    return transport;
  };
  const http = createServer((incoming, outgoing) => {
    const id = incoming.headers["mcp-session-id"];
    const respond = async (): Promise<void> => {
      const session = id === undefined ? await startSession() : sessions.get(String(id));
      if (session) await session.handleRequest(incoming, outgoing);
      else outgoing.writeHead(404).end();
    };
    void respond();
  });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    forget: () => sessions.clear(),
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

if (process.argv[1] === import.meta.filename) serveStdio(createTestToolServer);
