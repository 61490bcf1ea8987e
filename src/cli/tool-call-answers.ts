import { isTerminal, type JsonObject, type Part, type Task } from "../protocol/index.ts";
import { createUsageError } from "./cli-error.ts";

/** Pending function call of an ADK agent. */
interface PendingToolCall {
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
