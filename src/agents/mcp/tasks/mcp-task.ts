/**
 * The wire format of MCP Tasks (SEP-2663). The types of `@modelcontextprotocol/server` 2.4 describe the
 * experimental tasks of MCP 2025-11-25, which are not compatible with the extension.
 */
import type { JsonObject } from "../../../protocol/index.ts";

/** Identifier of the MCP Tasks extension in the capabilities of hosts and servers. */
export const MCP_TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Members of an MCP task that are present in every status. */
interface McpTaskFields {
  readonly taskId: string;
  readonly statusMessage?: string;
  /** Time of the tool call that created the task, in ISO 8601 format. */
  readonly createdAt: string;
  /** Time of the last status change, in ISO 8601 format. */
  readonly lastUpdatedAt: string;
  /**
   * Time in milliseconds that the task remains available after `createdAt`, or `null` if there is no limit.
   */
  readonly ttlMs: number | null;
  /** Recommended interval between two `tasks/get` requests, in milliseconds. */
  readonly pollIntervalMs?: number;
}

/** A question from the server to the host's user, in the form of an MCP request. */
export interface McpInputRequest {
  readonly method: string;
  readonly params?: JsonObject;
}

/** The state of an MCP task, as returned by `tasks/get` and sent with `notifications/tasks`. */
export type McpTask = McpTaskFields &
  (
    | { readonly status: "working" | "cancelled" }
    | {
        readonly status: "input_required";
        /** The unanswered questions. The keys are unique within the task. */
        readonly inputRequests: Readonly<Record<string, McpInputRequest>>;
      }
    | {
        readonly status: "completed";
        /** The result of the tool call, which may have `isError` set. */
        readonly result: object;
      }
    | {
        readonly status: "failed";
        /** The JSON-RPC error of the tool call. */
        readonly error: { readonly code: number; readonly message: string };
      }
  );

/** The response to a tool call that continues as an MCP task. */
export type CreateMcpTaskResult = McpTaskFields & {
  readonly resultType: "task";
  readonly status: McpTask["status"];
};
