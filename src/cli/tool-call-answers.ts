import { isObject, isTerminal, type JsonObject, type Part, type Task } from "../protocol/index.ts";
import { createUsageError } from "./cli-error.ts";

/** Pending function call of an ADK agent. */
export interface PendingToolCall {
  id: string;
  name: string;
  args: JsonObject;
}

/**
 * Returns the function calls that an interrupted task waits for. ADK agents in all languages store pending
 * function calls in the status message.
 */
export function findPendingToolCalls({ status }: Pick<Task, "status">): PendingToolCall[] {
  return (status.message?.parts ?? []).flatMap((part) => {
    const { metadata } = part;
    if (!("data" in part) || metadata?.["adk_type"] !== "function_call") return [];
    if (metadata["adk_is_long_running"] !== true) return [];
    const { id, name, args } = part.data as Partial<PendingToolCall>;
    return id && name ? [{ id, name, args: args ?? {} }] : [];
  });
}

/** Names of calls that the user approves or denies, although the arguments do not describe the response. */
const APPROVAL_NAME_PATTERN = /approv|confirm|permission|allow/i;

/**
 * Returns true if the user can answer the pending call with plain text. Servers that accept no text repeat the question
 * with an error text.
 */
export function isAnswerableWithText(task: Pick<Task, "status">): boolean {
  const [call, ...others] = findPendingToolCalls(task);
  return (
    call !== undefined &&
    others.length === 0 &&
    call.name !== "adk_request_credential" &&
    !APPROVAL_NAME_PATTERN.test(call.name) &&
    !task.status.message?.parts.some((part) => "text" in part)
  );
}

/** Returns an example of the response to a call, as JSON. A call of `adk_request_input` can describe its response. */
export function formatExampleResponse({ name, args }: PendingToolCall): string {
  if (name === "adk_request_confirmation") return '{"confirmed":true}';
  if (APPROVAL_NAME_PATTERN.test(name)) return '{"approved":true}';
  const schema = args["response_schema"];
  const properties = isObject(schema) ? schema["properties"] : undefined;
  const fields = isObject(properties) ? Object.keys(properties) : [];
  return JSON.stringify(
    Object.fromEntries((fields.length > 0 ? fields : ["result"]).map((field) => [field, "…"])),
  );
}

export function formatToolCall({ name, args }: PendingToolCall): string {
  return `${name}(${JSON.stringify(args)})`;
}

/** Names of tool arguments that contain the text of a question. */
const QUESTION_NAMES = ["question", "prompt", "message", "text"];

/** Returns the question of a tool call, for example `asks: Which city?`. Returns the call if it contains no question. */
export function formatQuestion(call: PendingToolCall): string {
  const question = QUESTION_NAMES.map((name) => call.args[name]).find((value) => typeof value === "string");
  return question === undefined
    ? `asks ${formatToolCall(call)}.`
    : `asks: ${question.replaceAll(/\s+/g, " ").trim()}`;
}

/** Returns the tool call or the result of a tool in a part as one line, or `undefined` for another part. */
export function formatToolPart({ metadata, ...part }: Part): string | undefined {
  if (!("data" in part) || !isObject(part.data)) return undefined;
  const { name, args, response } = part.data;
  if (typeof name !== "string") return undefined;
  if (metadata?.["adk_type"] === "function_call") return `[${name}(${JSON.stringify(args ?? {})})]`;
  if (metadata?.["adk_type"] === "function_response") return `[${name}: ${JSON.stringify(response)}]`;
  return undefined;
}

/**
 * Creates one message part for each pending function call. The answers are in the order of the function
 * calls.
 */
export function createToolCallAnswerParts(task: Task, answers: readonly JsonObject[]): Part[] {
  const calls = findPendingToolCalls(task);
  if (calls.length !== answers.length) {
    const waiting = calls.map((call) => call.name).join(", ");
    throw createUsageError(
      calls.length === 0
        ? `Task ${task.id} (${task.status.state}) has no pending function call.`
        : `Task ${task.id} requires ${calls.length} answers (${waiting}), but --answer was passed ${answers.length} times.`,
      calls.length > 0 ? undefined : getNoPendingCallHint(task),
    );
  }
  return calls.map(({ id, name }, index) => ({
    data: { id, name, response: answers[index] ?? {} },
    metadata: { adk_type: "function_response" },
  }));
}

function getNoPendingCallHint({ status }: Task): string {
  return isTerminal(status.state)
    ? "The task has ended. Omit --answer and --task-id to start a new one."
    : "Omit --answer, and send a text.";
}
