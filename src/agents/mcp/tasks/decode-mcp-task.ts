import { A2AError, isObject, type JsonObject } from "../../../protocol/index.ts";
import type { McpInputRequest, McpTask } from "./mcp-task.ts";

/** Decodes an MCP task from a server. Throws an error if a required member is missing or has a wrong type. */
export function decodeMcpTask(json: unknown): McpTask {
  if (!isObject(json)) throw createDecodeError("is not an object");
  const { taskId, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = json;
  if (typeof taskId !== "string" || taskId === "") throw createDecodeError("has no taskId");
  const fields = {
    taskId,
    ...(typeof statusMessage === "string" ? { statusMessage } : {}),
    createdAt: typeof createdAt === "string" ? createdAt : "",
    lastUpdatedAt: typeof lastUpdatedAt === "string" ? lastUpdatedAt : "",
    ttlMs: typeof ttlMs === "number" ? ttlMs : null,
    ...(typeof pollIntervalMs === "number" ? { pollIntervalMs } : {}),
  };
  const { status, result, error, inputRequests } = json;
  if (status === "working" || status === "cancelled") return { ...fields, status };
  if (status === "completed" && isObject(result)) return { ...fields, status, result };
  if (status === "failed" && isObject(error)) return { ...fields, status, error: decodeTaskError(error) };
  if (status === "input_required" && isObject(inputRequests))
    return { ...fields, status, inputRequests: decodeInputRequests(inputRequests) };
  throw createDecodeError(
    `has an invalid status ${JSON.stringify(status)}, or lacks the members of the status`,
  );
}

function decodeTaskError({ code, message }: JsonObject): { code: number; message: string } {
  return {
    code: typeof code === "number" ? code : 0,
    message: typeof message === "string" ? message : "The server states no reason.",
  };
}

function decodeInputRequests(json: JsonObject): Record<string, McpInputRequest> {
  return Object.fromEntries(
    Object.entries(json).map(([key, request]) => {
      if (!isObject(request) || typeof request["method"] !== "string")
        throw createDecodeError(`has an invalid input request ${JSON.stringify(key)}`);
      const { method, params } = request;
      return [key, { method, ...(isObject(params) ? { params } : {}) }];
    }),
  );
}

function createDecodeError(problem: string): A2AError {
  return new A2AError(
    "INVALID_REQUEST",
    `An MCP task ${problem}; report the error to the operator of the MCP server.`,
  );
}
