/**
 * The wire format of MCP Tasks (SEP-2663). The types of `@modelcontextprotocol/server` 2.4 describe the
 * experimental tasks of MCP 2025-11-25, which are not compatible with the extension.
 */
import type { JsonObject } from "../../protocol/index.ts";

/** Identifier of the MCP Tasks extension in the capabilities of hosts and servers. */
export const MCP_TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Members that an MCP task has in every status. */
interface McpTaskFields {
  readonly taskId: string;
  readonly statusMessage?: string;
  /** Time of the tool call that created the task, as ISO 8601. */
  readonly createdAt: string;
  /** Time of the last change of the status, as ISO 8601. */
  readonly lastUpdatedAt: string;
  /** Time in milliseconds after `createdAt` in which the task is available, or `null` without a limit. */
  readonly ttlMs: number | null;
  /** Recommended interval between two `tasks/get` requests, in milliseconds. */
  readonly pollIntervalMs?: number;
}

/** A question of a server to the user of a host, in the form of an MCP request. */
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
