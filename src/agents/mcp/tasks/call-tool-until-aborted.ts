import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import type { McpConnection } from "../mcp-connection.ts";
import { MCP_TASKS_EXTENSION } from "./mcp-task.ts";
import { cancelMcpTask } from "./mcp-task-follower.ts";
import { findTaskHandle } from "./task-handle-result.ts";

/**
 * Time in milliseconds that an aborted tool call waits for the id of an MCP task. If the client closed the
 * request immediately, a new MCP task could continue although no client knows its id.
 */
const ABORTED_CALL_GRACE_MS = 3000;

/**
 * Calls a tool. If `signal` aborts, the function rejects immediately with the abort reason, and aborts the
 * request. If the server supports MCP Tasks, the function first waits in the background for the id of the MCP
 * task. If `shouldCancel` returns `true`, the function then cancels the MCP task.
 */
export async function callToolUntilAborted(
  connection: McpConnection,
  signal: AbortSignal | undefined,
  shouldCancel: () => boolean,
  callTool: (client: Client, signal: AbortSignal) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  signal?.throwIfAborted();
  const requestController = new AbortController();
  let supportsTasks = false;
  const request = connection.withClient(requestController.signal, (client) => {
    supportsTasks = client.getServerCapabilities()?.extensions?.[MCP_TASKS_EXTENSION] !== undefined;
    return callTool(client, requestController.signal);
  });
  if (!signal) return request;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    aborted.reject(signal.reason as Error);
    const abortRequest = (): void => requestController.abort(signal.reason);
    if (!supportsTasks) return abortRequest();
    const timer = setTimeout(abortRequest, ABORTED_CALL_GRACE_MS);
    cancelCreatedTask(connection, request, shouldCancel).then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([request, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Cancels the MCP task in the response to a tool call, if the response contains an MCP task. */
async function cancelCreatedTask(
  connection: McpConnection,
  response: Promise<CallToolResult>,
  shouldCancel: () => boolean,
): Promise<void> {
  const task = findTaskHandle(await response);
  if (task && shouldCancel()) await cancelMcpTask(connection, task.taskId);
}
