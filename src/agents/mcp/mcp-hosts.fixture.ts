import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as Client2025 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio2025 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http2025 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { StructuredToolResult } from "./structured-tool-result.ts";

/** Progress notification as a host receives it. */
export interface TestMcpHostProgressNotification {
  progress: number;
  message?: string | undefined;
}

/** Result of a tool call as a host receives it. */
export interface TestMcpHostToolCallResult {
  content: { type: string; text?: string; [member: string]: unknown }[];
  structuredContent?: StructuredToolResult;
  isError?: boolean;
}

/** Options for a tool call of a host. */
export interface TestMcpHostToolCallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: TestMcpHostProgressNotification) => void;
}

/** An MCP host, backed by the client of an official SDK. */
export interface TestMcpHost {
  readonly version: string | undefined;
  listTools(): Promise<
    { name: string; title?: string | undefined; description?: string | undefined; inputSchema: object }[]
  >;
  callTool(
    name: string,
    args: Record<string, unknown>,
    options?: TestMcpHostToolCallOptions,
  ): Promise<TestMcpHostToolCallResult>;
  close(): Promise<void>;
}

/**
 * A function that answers an elicitation for the host's user. A host without such a function does not support
 * elicitation.
 */
export type TestMcpHostElicitationResponder = (question: string) => {
  action: "accept" | "decline";
  content?: Record<string, string>;
};

/** Location of an MCP server: a URL, or arguments of `colloquy mcp`. */
export type TestMcpServerUrlOrCliArguments = { readonly url: string } | { readonly args: readonly string[] };

const colloquyBinFilePath = fileURLToPath(new URL("../../../bin/colloquy.js", import.meta.url));
const typescriptSourceLoaderUrl = new URL("../../../test/support/from-source.mjs", import.meta.url).href;

const STARTUP_VARIABLES = new Set(["COLLOQUY_TEST_BUNDLE", "COLLOQUY_TEST_PACKAGES", "NODE_COMPILE_CACHE"]);

function createTestMcpCliProcessParameters(args: readonly string[]): {
  command: string;
  args: string[];
  env: Record<string, string>;
  stderr: "ignore";
} {
  // The transports of the SDKs pass on few variables. Without these, each process compiles all sources again.
  const env = Object.entries(process.env).filter(([name]) => STARTUP_VARIABLES.has(name));
  return {
    command: process.execPath,
    args: ["--import", typescriptSourceLoaderUrl, colloquyBinFilePath, "mcp", ...args],
    env: { ...getDefaultEnvironment(), ...(Object.fromEntries(env) as Record<string, string>) },
    stderr: "ignore",
  };
}

/** Connects a host that uses MCP 2026-07-28, through the current SDK. */
export async function connectTestMcpHost2026(
  location: TestMcpServerUrlOrCliArguments,
  respond?: TestMcpHostElicitationResponder,
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
      : new StdioClientTransport(createTestMcpCliProcessParameters(location.args)),
  );
  return {
    version: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, options) =>
      (await client.callTool({ name, arguments: args }, options)) as unknown as TestMcpHostToolCallResult,
    close: () => client.close(),
  };
}

/** Connects a host that uses MCP of 2025, through the previous SDK. */
export async function connectTestMcpHost2025(
  location: TestMcpServerUrlOrCliArguments,
  respond?: TestMcpHostElicitationResponder,
): Promise<TestMcpHost & { requestTask(taskId: string): Promise<void> }> {
  const client = new Client2025(
    { name: "host", version: "1" },
    { capabilities: respond ? { elicitation: {} } : {} },
  );
  if (respond) client.setRequestHandler(ElicitRequestSchema, ({ params }) => respond(params.message));
  const transport =
    "url" in location
      ? new Http2025(new URL(location.url))
      : new Stdio2025(createTestMcpCliProcessParameters(location.args));
  await client.connect(transport);
  return {
    requestTask: async (taskId) => {
      await client.request({ method: "tasks/get", params: { taskId } }, ResultSchema);
    },
    version: "2025",
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, options) =>
      (await client.callTool(
        { name, arguments: args },
        undefined,
        options,
      )) as unknown as TestMcpHostToolCallResult,
    close: () => client.close(),
  };
}
