import { setTimeout as delay } from "node:timers/promises";
import type { StandardSchemaV1 } from "@modelcontextprotocol/client";
import { A2AError, isObject, type JsonObject } from "../../../protocol/index.ts";
import type { McpConnection } from "../mcp-connection.ts";
import { decodeMcpTask } from "./decode-mcp-task.ts";
import type { McpTask } from "./mcp-task.ts";

/**
 * Default interval in milliseconds between two `tasks/get` requests, if the server recommends no interval.
 */
const DEFAULT_POLL_INTERVAL_MS = 1000;
/** Minimum and maximum of the recommended interval, in milliseconds. */
const [MIN_POLL_INTERVAL_MS, MAX_POLL_INTERVAL_MS] = [10, 60_000];
/** Time limit in milliseconds for a `tasks/cancel` request after an abort. */
const CANCEL_TIMEOUT_MS = 5000;

/** A question that an MCP server asks before the task continues. */
export interface McpTaskQuestion {
  readonly key: string;
  readonly text: string;
  /** Name of the form field for the answer, if the form has a text field. */
  readonly field: string | undefined;
}

/** The result of an MCP task, or a question that the task asks. */
export type McpTaskOutcome = { readonly result: object } | { readonly question: McpTaskQuestion };

/** Options for `followMcpTask`. */
export interface FollowMcpTaskOptions {
  readonly signal: AbortSignal | undefined;
  /** Receives each new status message of the task. */
  readonly onStatusMessage: (text: string) => void;
  /** Called when the task has completed, has failed, or was canceled. */
  readonly onEnd: () => void;
  /** Time in milliseconds before the function rejects if the server does not respond. */
  readonly timeoutMs: number;
  /** Returns whether the MCP task is canceled when `signal` aborts. */
  readonly shouldCancel: () => boolean;
}

const ANY_RESULT_SCHEMA: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "colloquy", validate: (value) => ({ value }) },
};

/**
 * Polls an MCP task until the task ends or asks a question. The function tolerates lost connections and
 * restarts of the server. If the server does not respond for `timeoutMs`, the function rejects.
 */
export async function followMcpTask(
  connection: McpConnection,
  taskId: string,
  firstIntervalMs: number | undefined,
  options: FollowMcpTaskOptions,
): Promise<McpTaskOutcome> {
  const { signal, onStatusMessage, onEnd, shouldCancel } = options;
  let intervalMs = firstIntervalMs;
  let lastMessage: string | undefined;
  try {
    for (;;) {
      const task = await getMcpTask(connection, taskId, options);
      if (task.status !== "working" && task.status !== "input_required") onEnd();
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

/**
 * Sends the answer to a question of an MCP task. Rejects if the server does not respond to a request for
 * `timeoutMs`.
 */
export async function answerMcpTask(
  connection: McpConnection,
  taskId: string,
  answer: string,
  options: Pick<FollowMcpTaskOptions, "signal" | "timeoutMs">,
): Promise<void> {
  const task = decodeMcpTask(await request(connection, "tasks/get", { taskId }, options));
  if (task.status !== "input_required") return;
  const { key, field } = findQuestion(task);
  const response = { action: "accept", ...(field === undefined ? {} : { content: { [field]: answer } }) };
  await request(connection, "tasks/update", { taskId, inputResponses: { [key]: response } }, options);
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
      const remainingMs = Math.max(giveUpAt - performance.now(), MIN_POLL_INTERVAL_MS);
      return decodeMcpTask(
        await request(connection, "tasks/get", { taskId }, { signal, timeoutMs: remainingMs }),
      );
    } catch (error) {
      const isUnavailable = error instanceof A2AError && error.reason === "UNAVAILABLE";
      const remainingMs = giveUpAt - performance.now();
      if (!isUnavailable || connection.isClosed || remainingMs <= 0) throw error;
      // Half of the remaining time leaves time for the response to the next request.
      await pause(Math.min(DEFAULT_POLL_INTERVAL_MS, remainingMs / 2), signal);
    }
  }
}

function request(
  connection: McpConnection,
  method: string,
  params: JsonObject,
  { signal, timeoutMs }: Pick<FollowMcpTaskOptions, "signal" | "timeoutMs">,
): Promise<unknown> {
  return connection.withClient(signal, (client) =>
    client.request({ method, params }, ANY_RESULT_SCHEMA, {
      timeout: timeoutMs,
      ...(signal ? { signal } : {}),
    }),
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

/** Returns the first question of a task. Throws an error if the task asks for anything except one text. */
function findQuestion(task: Extract<McpTask, { status: "input_required" }>): McpTaskQuestion {
  for (const [key, { method, params = {} }] of Object.entries(task.inputRequests)) {
    const { message, requestedSchema } = params;
    if (method === "elicitation/create" && typeof message === "string")
      return { key, text: message, field: findTextField(requestedSchema) };
  }
  const methods = Object.values(task.inputRequests).map(({ method }) => method);
  throw new A2AError(
    "INVALID_REQUEST",
    `The MCP task requires ${methods.join(", ") || "input"}, which agents cannot provide; use another tool.`,
  );
}

/**
 * Returns the name of the required text field of a form, or of the first text field if no field is required.
 * Returns `undefined` for a form without fields. Throws an error if a text in one field cannot complete the
 * form.
 */
function findTextField(requestedSchema: unknown): string | undefined {
  const { properties, required } = isObject(requestedSchema) ? requestedSchema : {};
  const fields = new Map(Object.entries(isObject(properties) ? properties : {}));
  const requiredNames = Array.isArray(required) ? required.map(String) : [];
  const names = requiredNames.length > 0 ? requiredNames : [...fields.keys()];
  const field = names.find((name) => {
    const schema = fields.get(name);
    return isObject(schema) && schema["type"] === "string";
  });
  if (requiredNames.length <= 1 && (field !== undefined || names.length === 0)) return field;
  throw new A2AError(
    "INVALID_REQUEST",
    `The MCP task requires a form with the fields ${names.join(", ")}, but agents can answer only one text ` +
      "field; use another tool.",
  );
}

/** Waits until the recommended interval has passed. Rejects with the abort reason of `signal`. */
async function pause(intervalMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  const recommendedMs = Math.max(intervalMs ?? DEFAULT_POLL_INTERVAL_MS, MIN_POLL_INTERVAL_MS);
  try {
    await delay(Math.min(recommendedMs, MAX_POLL_INTERVAL_MS), undefined, signal ? { signal } : {});
  } catch {
    throw signal?.reason;
  }
}
