import { getText, isInterrupted, isTerminal, type Task } from "../../../protocol/index.ts";
import { toCallToolResult } from "../call-tool-result.ts";
import { stripInvisibleAndTruncateText } from "../sanitize-text.ts";
import type { CreateMcpTaskResult, McpTask } from "./mcp-task.ts";
import { formatMcpTaskId, type McpTaskReference } from "./mcp-task-id.ts";
import { findTaskQuestion } from "./task-question.ts";

/** Recommended interval between two `tasks/get` requests, in milliseconds. */
const POLL_INTERVAL_MS = 1000;
/** Maximum length of a status message in characters. */
const MAX_STATUS_MESSAGE_LENGTH = 1000;

/**
 * Converts an A2A task to an MCP task. A question becomes an input request if the host's user can answer it.
 * Otherwise, the question completes the MCP task, and the host's model answers with another tool call. A
 * FAILED A2A task becomes a `completed` MCP task with `isError`, because MCP uses `failed` only for JSON-RPC
 * errors.
 */
export function toMcpTask(task: Task, reference: McpTaskReference, canAskUser: boolean): McpTask {
  const { state, message, timestamp } = task.status;
  const createdAt = new Date(reference.createdAtMs).toISOString();
  const statusMessage = stripInvisibleAndTruncateText(
    getText(message?.parts ?? []),
    MAX_STATUS_MESSAGE_LENGTH,
  );
  const fields = {
    taskId: formatMcpTaskId(reference),
    ...(statusMessage === "" ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt: timestamp !== undefined && timestamp > createdAt ? timestamp : createdAt,
    // Task stores have no time limit.
    ttlMs: null,
    pollIntervalMs: POLL_INTERVAL_MS,
  };
  if (state === "TASK_STATE_CANCELED") return { ...fields, status: "cancelled" };
  const question = canAskUser ? findTaskQuestion(task, reference.agentId) : undefined;
  if (question)
    return { ...fields, status: "input_required", inputRequests: { [question.key]: question.request } };
  return isTerminal(state) || isInterrupted(state)
    ? { ...fields, status: "completed", result: { resultType: "complete", ...toCallToolResult({ task }) } }
    : { ...fields, status: "working" };
}

/** Converts a new MCP task to the response of the tool call. The response has no result and no questions. */
export function toCreateMcpTaskResult({ status, ...task }: McpTask): CreateMcpTaskResult {
  const { taskId, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task;
  return {
    resultType: "task",
    taskId,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
  };
}
