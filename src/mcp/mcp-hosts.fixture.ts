import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as Client2025 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio2025 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http2025 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { StructuredResult } from "./structured-result.ts";

/** Progress notification as a host receives it. */
export interface ProgressNotification {
  progress: number;
  message?: string | undefined;
}

/** Result of a tool call as a host receives it. */
export interface ToolCallResult {
  content: { type: string; text?: string; [member: string]: unknown }[];
  structuredContent?: StructuredResult;
  isError?: boolean;
}

/** Options for a tool call of a host. */
export interface ToolCallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: ProgressNotification) => void;
}

/** An MCP host, backed by the client of an official SDK. */
export interface TestMcpHost {
  readonly version: string | undefined;
  listTools(): Promise<
    { name: string; title?: string | undefined; description?: string | undefined; inputSchema: object }[]
  >;
  callTool(name: string, args: Record<string, unknown>, options?: ToolCallOptions): Promise<ToolCallResult>;
  close(): Promise<void>;
}

/**
 * A function that answers an elicitation for the host's user. A host without such a function does not support
 * elicitation.
 */
export type ElicitationResponder = (question: string) => {
  action: "accept" | "decline";
  content?: Record<string, string>;
};

/** Location of an MCP server: a URL, or arguments of `colloquy mcp`. */
export type McpServerLocation = { readonly url: string } | { readonly args: readonly string[] };

const cliPath = fileURLToPath(new URL("../../bin/colloquy.js", import.meta.url));
const sourceLoaderUrl = new URL("../../test/from-source.mjs", import.meta.url).href;

function createMcpCliProcessParameters(args: readonly string[]): {
  command: string;
  args: string[];
  stderr: "ignore";
} {
  return {
    command: process.execPath,
    args: ["--import", sourceLoaderUrl, cliPath, "mcp", ...args],
    stderr: "ignore",
  };
}

/** Connects a host that uses MCP 2026-07-28, through the current SDK. */
export async function connectTestMcpHost2026(
  location: McpServerLocation,
  respond?: ElicitationResponder,
): Promise<TestMcpHost> {
  const client = new Client(
    { name: "host", version: "1" },
    { versionNegotiation: { mode: "auto" }, capabilities: respond ? { elicitation: { form: {} } } : {} },
  );
  if (respond) {
    client.setRequestHandler("elicitation/create", ({ params }) => respond(params.message));
  }
  await client.connect(
    "url" in location
      ? new StreamableHTTPClientTransport(new URL(location.url))
      : new StdioClientTransport(createMcpCliProcessParameters(location.args)),
  );
  return {
    version: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, options) =>
      (await client.callTool({ name, arguments: args }, options)) as unknown as ToolCallResult,
    close: () => client.close(),
  };
}

/** Connects a host that uses MCP of 2025, through the previous SDK. */
export async function connectTestMcpHost2025(
  location: McpServerLocation,
  respond?: ElicitationResponder,
): Promise<TestMcpHost & { requestTask(taskId: string): Promise<void> }> {
  const client = new Client2025(
    { name: "host", version: "1" },
    { capabilities: respond ? { elicitation: {} } : {} },
  );
  if (respond) client.setRequestHandler(ElicitRequestSchema, ({ params }) => respond(params.message));
  const transport =
    "url" in location
      ? new Http2025(new URL(location.url))
      : new Stdio2025(createMcpCliProcessParameters(location.args));
  await client.connect(transport);
  return {
    requestTask: async (taskId) => {
      await client.request({ method: "tasks/get", params: { taskId } }, ResultSchema);
    },
    version: "2025",
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, options) =>
      (await client.callTool({ name, arguments: args }, undefined, options)) as unknown as ToolCallResult,
    close: () => client.close(),
  };
}
