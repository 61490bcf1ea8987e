import type { AgentEvent } from "../engine/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import { type McpServerAddress, McpConnection } from "./mcp-connection.ts";
import { type McpToolResult, fromCallToolResult } from "./mcp-tool-result.ts";

export type McpToolClientOptions = McpServerAddress & {
  /** A call fails when nothing is heard of it for so long; progress counts as being heard of. Default: a minute. */
  readonly timeoutMs?: number;
};

/** A tool, as its server lists it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
}

export interface McpToolCallOptions {
  /** Aborts the call; its server is told. An agent passes on `signal` of its turn. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: McpToolProgress) => void;
  /** In place of the `timeoutMs` of all calls. */
  readonly timeoutMs?: number;
}

export interface McpToolProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** The tools of an MCP server, inside an agent. */
export interface McpToolClient {
  listTools(options?: Pick<McpToolCallOptions, "signal">): Promise<McpTool[]>;
  /**
   * Never repeated: the tool may have done its work. What a tool says of its own failure is a result with `isError`;
   * rejects when there is no such tool, or no answer.
   */
  callTool(name: string, args?: JsonObject, options?: McpToolCallOptions): Promise<McpToolResult>;
  /**
   * The same in a generator, where the tool's progress becomes status updates of the task:
   *
   * ```ts
   * const found = yield* tools.run("search", { query: text }, { signal });
   * ```
   */
  streamTool(
    name: string,
    args?: JsonObject,
    options?: Pick<McpToolCallOptions, "signal" | "timeoutMs">,
  ): AsyncGenerator<AgentEvent, McpToolResult, undefined>;
  /** Ends the connection, and the process of a server that is one. */
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * The tools of the MCP server that `command` starts, or that is at `url` (streamable HTTP). Connects at the first call,
 * and again after the connection has ended. Takes the package `@modelcontextprotocol/client`.
 */
export function createMcpToolClient(options: McpToolClientOptions): McpToolClient {
  const connection = new McpConnection(options);
  const usual = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;

  const call: McpToolClient["callTool"] = (name, args = {}, { signal, onProgress, timeoutMs = usual } = {}) =>
    connection.withClient(signal, async (client) => {
      const result = await client.callTool(
        { name, arguments: args },
        {
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          // Without a listener the server is not asked to tell, and so could not be heard of.
          onprogress: (progress) => onProgress?.(progress),
          ...(signal ? { signal } : {}),
        },
      );
      return fromCallToolResult(result);
    });

  return {
    listTools: ({ signal } = {}) =>
      connection.withClient(signal, async (client) => {
        const { tools } = await client.listTools(undefined, {
          timeout: usual,
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
      let more = Promise.withResolvers<false>();
      const left = new AbortController();
      const result = call(name, args, {
        ...options,
        signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
        onProgress: (progress) => {
          lines.push(formatProgress(name, progress));
          more.resolve(false);
        },
      });
      const over = result.then(
        () => true,
        () => true,
      );
      try {
        for (let isOver = false; !isOver;) {
          isOver = await Promise.race([over, more.promise]);
          more = Promise.withResolvers();
          // The agent may be slower than the tool; of what it has not said yet, the last is what counts.
          for (const text of lines.splice(0).slice(-MAX_PROGRESS_LINES)) {
            yield { status: { state: "TASK_STATE_WORKING", message: { parts: [{ text }] } } };
          }
        }
        return await result;
      } finally {
        // Nobody waits for the result of a turn that has ended.
        left.abort();
      }
    },
    close: () => connection.close(),
  };
}

const MAX_PROGRESS_LINES = 100;

function formatProgress(name: string, { progress, total, message }: McpToolProgress): string {
  if (message !== undefined && message !== "") return message;
  return total === undefined ? `${name}: ${progress}` : `${name}: ${progress} of ${total}`;
}
