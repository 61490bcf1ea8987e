import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as Client2025 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio2025 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http2025 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { StructuredResult } from "./structured-result.ts";

export interface ProgressNotification {
  progress: number;
  message?: string | undefined;
}

export interface ToolCallResult {
  content: { type: string; text?: string; [member: string]: unknown }[];
  structuredContent?: StructuredResult;
  isError?: boolean;
}

export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: ProgressNotification) => void;
}

/** An MCP host: a real client of one of the official SDKs. */
export interface McpHost {
  readonly version: string | undefined;
  listTools(): Promise<
    { name: string; title?: string | undefined; description?: string | undefined; inputSchema: object }[]
  >;
  callTool(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolCallResult>;
  close(): Promise<void>;
}

/** What the host's user answers; undefined when the host can not ask. */
export type ElicitationResponder = (question: string) => {
  action: "accept" | "decline";
  content?: Record<string, string>;
};

/** Where the server is: at a URL, or a process of the command line. */
export type McpServerLocation = { readonly url: string } | { readonly args: readonly string[] };

const cliPath = fileURLToPath(new URL("../../bin/colloquy.js", import.meta.url));
const sourceLoaderUrl = new URL("../../test/from-source.mjs", import.meta.url).href;

function createProcessParameters(args: readonly string[]): {
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

/** MCP 2026-07-28, by the SDK of today. */
export async function connectHost2026(
  where: McpServerLocation,
  ask?: ElicitationResponder,
): Promise<McpHost> {
  const client = new Client(
    { name: "host", version: "1" },
    { versionNegotiation: { mode: "auto" }, capabilities: ask ? { elicitation: { form: {} } } : {} },
  );
  if (ask) {
    client.setRequestHandler("elicitation/create", ({ params }) => ask(params.message));
  }
  await client.connect(
    "url" in where
      ? new StreamableHTTPClientTransport(new URL(where.url))
      : new StdioClientTransport(createProcessParameters(where.args)),
  );
  return {
    version: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, options) =>
      (await client.callTool({ name, arguments: args }, options)) as unknown as ToolCallResult,
    close: () => client.close(),
  };
}

/** MCP of 2025, by the SDK of then. */
export async function connectHost2025(
  where: McpServerLocation,
  ask?: ElicitationResponder,
): Promise<McpHost> {
  const client = new Client2025(
    { name: "host", version: "1" },
    { capabilities: ask ? { elicitation: {} } : {} },
  );
  if (ask) client.setRequestHandler(ElicitRequestSchema, ({ params }) => ask(params.message));
  const transport =
    "url" in where ? new Http2025(new URL(where.url)) : new Stdio2025(createProcessParameters(where.args));
  await client.connect(transport);
  return {
    version: "2025",
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, options) =>
      (await client.callTool({ name, arguments: args }, undefined, options)) as unknown as ToolCallResult,
    close: () => client.close(),
  };
}
