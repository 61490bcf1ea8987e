import { setTimeout as delay } from "node:timers/promises";
import type { StandardSchemaV1 } from "@modelcontextprotocol/client";
import { A2AError, isObject } from "../../protocol/index.ts";
import type { McpConnection } from "../mcp-connection.ts";
import { decodeMcpTask } from "./decode-mcp-task.ts";
import type { McpTask } from "./mcp-task.ts";

/** Interval between two `tasks/get` requests if the server recommends none, in milliseconds. */
const DEFAULT_POLL_INTERVAL_MS = 1000;
/** Bounds of the recommended interval, in milliseconds. */
const [MIN_POLL_INTERVAL_MS, MAX_POLL_INTERVAL_MS] = [10, 60_000];
/** Time limit of a `tasks/cancel` request after an abort, in milliseconds. */
const CANCEL_TIMEOUT_MS = 5000;

/** A question that an MCP server asks before the task continues. */
export interface McpTaskQuestion {
  readonly key: string;
  readonly text: string;
  /** Name of the form field for the answer, if the question has a field for text. */
  readonly field: string | undefined;
}

/** The end of an MCP task, or a question that the task waits for. */
export type McpTaskOutcome = { readonly result: object } | { readonly question: McpTaskQuestion };

/** Options for `followMcpTask`. */
export interface FollowMcpTaskOptions {
  readonly signal: AbortSignal | undefined;
  /** Receives each new status message of the task. */
  readonly onStatusMessage: (text: string) => void;
  /** Time in milliseconds after which the function rejects if the server does not respond. */
  readonly timeoutMs: number;
  /** Returns whether an abort of `signal` cancels the task of the server. */
  readonly shouldCancel: () => boolean;
}

const ANY_RESULT_SCHEMA: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "colloquy", validate: (value) => ({ value }) },
};

/**
 * Polls an MCP task until the task ends or asks a question. The function survives lost connections and
 * restarts of the server, and rejects only if the server does not respond for `timeoutMs`.
 */
export async function followMcpTask(
  connection: McpConnection,
  taskId: string,
  firstIntervalMs: number | undefined,
  options: FollowMcpTaskOptions,
): Promise<McpTaskOutcome> {
  const { signal, onStatusMessage, shouldCancel } = options;
  let intervalMs = firstIntervalMs;
  let lastMessage: string | undefined;
  try {
    for (;;) {
      const task = await getMcpTask(connection, taskId, options);
      if (task.status === "completed") return { result: task.result };
      if (task.status === "failed")
        throw new A2AError("INVALID_REQUEST", `The MCP task failed: ${task.error.message}`);
      if (task.status === "cancelled")
        throw new A2AError("INVALID_REQUEST", "The MCP server canceled the task of the tool call.");
      if (task.status === "input_required") return { question: findQuestion(task) };
      if (task.statusMessage !== undefined && task.statusMessage !== lastMessage) {
        lastMessage = task.statusMessage;
        onStatusMessage(lastMessage);
      }
      intervalMs = task.pollIntervalMs ?? intervalMs;
      await pause(intervalMs, signal);
    }
  } catch (error) {
    if (signal?.aborted && shouldCancel()) await cancelMcpTask(connection, taskId);
    throw error;
  }
}

/** Sends the answer to a question of an MCP task. */
export async function answerMcpTask(
  connection: McpConnection,
  taskId: string,
  answer: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const task = await requestTask(connection, taskId, signal);
  if (task.status !== "input_required") return;
  const { key, field } = findQuestion(task);
  const response = { action: "accept", ...(field === undefined ? {} : { content: { [field]: answer } }) };
  await connection.withClient(signal, (client) =>
    client.request(
      { method: "tasks/update", params: { taskId, inputResponses: { [key]: response } } },
      ANY_RESULT_SCHEMA,
      signal ? { signal } : {},
    ),
  );
}

/** Reads an MCP task, and retries while the server is unavailable. */
async function getMcpTask(
  connection: McpConnection,
  taskId: string,
  { signal, timeoutMs }: FollowMcpTaskOptions,
): Promise<McpTask> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await requestTask(connection, taskId, signal);
    } catch (error) {
      const isUnavailable = error instanceof A2AError && error.reason === "UNAVAILABLE";
      if (!isUnavailable || connection.isClosed || performance.now() > giveUpAt) throw error;
      await pause(DEFAULT_POLL_INTERVAL_MS, signal);
    }
  }
}

async function requestTask(
  connection: McpConnection,
  taskId: string,
  signal: AbortSignal | undefined,
): Promise<McpTask> {
  return decodeMcpTask(
    await connection.withClient(signal, (client) =>
      client.request(
        { method: "tasks/get", params: { taskId } },
        ANY_RESULT_SCHEMA,
        signal ? { signal } : {},
      ),
    ),
  );
}

/** Requests the cancellation of an MCP task, and ignores failures. */
export async function cancelMcpTask(connection: McpConnection, taskId: string): Promise<void> {
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  try {
    await connection.withClient(signal, (client) =>
      client.request({ method: "tasks/cancel", params: { taskId } }, ANY_RESULT_SCHEMA, { signal }),
    );
  } catch {
    // Cancellation is cooperative, and the caller no longer needs the task.
  }
}

/** Returns the first question of a task. Throws if the task asks for something other than a text. */
function findQuestion(task: Extract<McpTask, { status: "input_required" }>): McpTaskQuestion {
  for (const [key, { method, params = {} }] of Object.entries(task.inputRequests)) {
    const { message, requestedSchema } = params;
    if (method !== "elicitation/create" || typeof message !== "string") continue;
    const properties = isObject(requestedSchema) ? requestedSchema["properties"] : undefined;
    const [field] = Object.keys(isObject(properties) ? properties : {});
    return { key, text: message, field };
  }
  const methods = Object.values(task.inputRequests).map(({ method }) => method);
  throw new A2AError(
    "INVALID_REQUEST",
    `The MCP task requires ${methods.join(", ") || "input"}, which agents cannot provide; use another tool.`,
  );
}

/** Waits for the recommended interval. Rejects with the abort reason of `signal`. */
async function pause(intervalMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  const recommendedMs = Math.max(intervalMs ?? DEFAULT_POLL_INTERVAL_MS, MIN_POLL_INTERVAL_MS);
  try {
    await delay(Math.min(recommendedMs, MAX_POLL_INTERVAL_MS), undefined, signal ? { signal } : {});
  } catch {
    throw signal?.reason;
  }
}
