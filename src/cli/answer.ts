import { isTerminal, type JsonObject, type Part, type Task } from "../protocol/index.ts";
import { Problem } from "./problem.ts";

/** A function call of an ADK agent that waits for somebody's answer. */
export interface WaitingCall {
  id: string;
  name: string;
  args: JsonObject;
}

/** The calls that an interrupted task waits for, as ADK agents of every language write them into its status. */
export function waitingCalls({ status }: Pick<Task, "status">): WaitingCall[] {
  return (status.message?.parts ?? []).flatMap((part) => {
    const { metadata } = part;
    if (!("data" in part) || metadata?.["adk_type"] !== "function_call") return [];
    if (metadata["adk_is_long_running"] !== true) return [];
    const { id, name, args } = part.data as Partial<WaitingCall>;
    return id && name ? [{ id, name, args: args ?? {} }] : [];
  });
}

/** The parts that answer the waiting calls, one answer for each call in their order. */
export function answerParts(task: Task, answers: readonly JsonObject[]): Part[] {
  const calls = waitingCalls(task);
  if (calls.length !== answers.length) {
    const waiting = calls.map((call) => call.name).join(", ");
    throw new Problem(
      "A2ACLI_ERR_USAGE",
      calls.length === 0
        ? `Task ${task.id} (${task.status.state}) waits for no answer to a function call.`
        : `Task ${task.id} waits for ${calls.length} answers (${waiting}), but --answer was given ${answers.length} times.`,
      calls.length > 0 ? undefined : hintFor(task),
    );
  }
  return calls.map(({ id, name }, index) => ({
    data: { id, name, response: answers[index] ?? {} },
    metadata: { adk_type: "function_response" },
  }));
}

function hintFor({ status }: Task): string {
  return isTerminal(status.state)
    ? "The task has ended; leave out --answer and --task-id to begin another."
    : "Leave out --answer and send a text.";
}
