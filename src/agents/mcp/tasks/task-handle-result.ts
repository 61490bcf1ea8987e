import type { CallToolResult, Transport } from "@modelcontextprotocol/client";
import { isObject } from "../../../protocol/index.ts";
import { decodeMcpTask } from "./decode-mcp-task.ts";
import { MCP_TASKS_EXTENSION, type McpTask } from "./mcp-task.ts";

/**
 * Lets the SDK's client receive tool results with `resultType: "task"`, which the client otherwise rejects.
 * The function replaces such a result with an empty tool result that contains the MCP task in `_meta`. Call
 * the function after the client has connected to the transport.
 */
export function acceptTaskHandleResults(transport: Transport): void {
  const receive = transport.onmessage;
  if (!receive) return;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- It is no event target.
  transport.onmessage = (message, extra) => {
    if ("result" in message && isObject(message.result) && message.result["resultType"] === "task") {
      const { _meta: meta, ...task } = message.result;
      const result = {
        resultType: "complete",
        content: [],
        // The SDK does not validate failed results with the output schema of the tool.
        isError: true,
        _meta: { ...(isObject(meta) ? meta : {}), [MCP_TASKS_EXTENSION]: task },
      };
      receive({ ...message, result }, extra);
    } else receive(message, extra);
  };
}

/** Returns the MCP task of a result that `acceptTaskHandleResults` has replaced. */
export function findTaskHandle({ _meta: meta }: CallToolResult): McpTask | undefined {
  const task: unknown = meta?.[MCP_TASKS_EXTENSION];
  // The response to a tool call has no questions and no result. The next `tasks/get` returns them.
  return task === undefined
    ? undefined
    : decodeMcpTask({ ...(isObject(task) ? task : {}), status: "working" });
}
