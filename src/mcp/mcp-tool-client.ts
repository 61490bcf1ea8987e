import type { AgentEvent } from "../engine/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import { type McpServerAddress, McpConnection } from "./mcp-connection.ts";
import { type McpToolResult, decodeCallToolResult } from "./mcp-tool-result.ts";

/** Options of `createMcpToolClient`, with the address of the MCP server and a timeout. */
export type McpToolClientOptions = McpServerAddress & {
  /**
   * Maximum time in milliseconds that a tool call waits for a response or for progress. Default: 60 000 ms.
   */
  readonly timeoutMs?: number;
};

/** A tool in the tool list of an MCP server. */
export interface McpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** JSON Schema of the tool's arguments. */
  readonly inputSchema: JsonObject;
}

/** Options for a call of an MCP tool. */
export interface McpToolCallOptions {
  /**
   * The signal that aborts the tool call and notifies the server, for example the `signal` of the agent's
   * turn.
   */
  readonly signal?: AbortSignal;
  /** Receives each progress notification of the tool. */
  readonly onProgress?: (progress: McpToolProgress) => void;
  /**
   * Maximum time in milliseconds that this tool call waits for a response or for progress. Default: the
   * client's `timeoutMs`.
   */
  readonly timeoutMs?: number;
}

/** The progress of an MCP tool call. */
export interface McpToolProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** A client that calls the tools of an MCP server, for use inside an agent. */
export interface McpToolClient {
  /** Lists the tools of the MCP server. */
  listTools(options?: Pick<McpToolCallOptions, "signal">): Promise<McpTool[]>;
  /**
   * Calls a tool. A tool call is never repeated, because the tool may already have done its work. If the tool
   * itself reports a failure, the result has `isError` set. Rejects if the MCP server does not respond or
   * does not offer the tool.
   */
  callTool(name: string, args?: JsonObject, options?: McpToolCallOptions): Promise<McpToolResult>;
  /**
   * Calls a tool inside a generator agent. The progress of the tool becomes status updates of the agent's
   * task:
   *
   * ```ts
   * const found = yield* tools.streamTool("search", { query: text }, { signal });
   * ```
   */
  streamTool(
    name: string,
    args?: JsonObject,
    options?: Pick<McpToolCallOptions, "signal" | "timeoutMs">,
  ): AsyncGenerator<AgentEvent, McpToolResult, undefined>;
  /**
   * Closes the connection to the server, and stops the process of a server that was started with `command`.
   */
  close(): Promise<void>;
}

const DEFAULT_TOOL_CALL_TIMEOUT_MS = 60_000;

/**
 * Creates a client for the tools of an MCP server. The client starts the server with `command`, or connects
 * to `url` over streamable HTTP. The client connects to the MCP server on the first call, and again after the
 * connection has ended. Requires the package `@modelcontextprotocol/client`.
 */
export function createMcpToolClient(options: McpToolClientOptions): McpToolClient {
  const connection = new McpConnection(options);
  const defaultTimeoutMs = options.timeoutMs ?? DEFAULT_TOOL_CALL_TIMEOUT_MS;

  const call: McpToolClient["callTool"] = (
    name,
    args = {},
    { signal, onProgress, timeoutMs = defaultTimeoutMs } = {},
  ) =>
    connection.withClient(signal, async (client) => {
      const result = await client.callTool(
        { name, arguments: args },
        {
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          // The SDK requests progress only if there is a listener. Progress must always arrive, because it
          // resets the timeout.
          onprogress: (progress) => onProgress?.(progress),
          ...(signal ? { signal } : {}),
        },
      );
      return decodeCallToolResult(result);
    });

  return {
    listTools: ({ signal } = {}) =>
      connection.withClient(signal, async (client) => {
        const { tools } = await client.listTools(undefined, {
          timeout: defaultTimeoutMs,
          ...(signal ? { signal } : {}),
        });
        return tools.map(({ name, title, description, inputSchema }) => ({
          name,
          title,
          description,
          inputSchema: inputSchema as JsonObject,
        }));
      }),
    callTool: call,
    async *streamTool(name, args, { signal, ...options } = {}) {
      const lines: string[] = [];
      let nextProgress = Promise.withResolvers<false>();
      const abandonController = new AbortController();
      const result = call(name, args, {
        ...options,
        signal: signal ? AbortSignal.any([signal, abandonController.signal]) : abandonController.signal,
        onProgress: (progress) => {
          lines.push(formatToolProgress(name, progress));
          nextProgress.resolve(false);
        },
      });
      const settled = result.then(
        () => true,
        () => true,
      );
      try {
        for (let isSettled = false; !isSettled;) {
          isSettled = await Promise.race([settled, nextProgress.promise]);
          nextProgress = Promise.withResolvers();
          // The agent may be slower than the tool. Only the latest pending lines are sent.
          for (const text of lines.splice(0).slice(-MAX_PENDING_TOOL_PROGRESS_LINES)) {
            yield { status: { state: "TASK_STATE_WORKING", message: { parts: [{ text }] } } };
          }
        }
        return await result;
      } finally {
        // The result is not needed after the turn has ended.
        abandonController.abort();
      }
    },
    close: () => connection.close(),
  };
}

/** Maximum number of waiting progress lines that are sent together. */
const MAX_PENDING_TOOL_PROGRESS_LINES = 100;

function formatToolProgress(name: string, { progress, total, message }: McpToolProgress): string {
  if (message !== undefined && message !== "") return message;
  return total === undefined ? `${name}: ${progress}` : `${name}: ${progress} of ${total}`;
}
