import { A2AError, type Message, type TaskState } from "../protocol/index.ts";
import type { MessageRefusal } from "./decide-message-outcome.ts";
import { createTaskAwaitsRecoveryError, createTaskEndedError } from "./task-errors.ts";

/** Creates the error for a message that does not fit into its task. */
export function createMessageTooLargeError(limit: number): A2AError {
  const text = `With this message, the task would be larger than the limit of ${limit} characters; send a shorter message, or start a new task in the same context.`;
  return new A2AError("PAYLOAD_TOO_LARGE", text);
}

export function createDuplicateMessageIdError({ messageId }: Message): A2AError {
  const description = `${messageId} was already used for a different message; use a new id for each message`;
  return A2AError.invalidParams([{ field: "message.messageId", description }]);
}

const REFUSAL_ERROR_FACTORIES: Record<
  MessageRefusal,
  (taskId: string, state: TaskState | undefined) => A2AError
> = {
  "task-ended": createTaskEndedError,
  "agent-working": createAgentWorkingError,
  "awaiting-recovery": createTaskAwaitsRecoveryError,
  "not-steerable": (taskId) => createSteeringRefusedError(taskId, "accept the message now"),
  "not-interruptible": (taskId) => createSteeringRefusedError(taskId, "stop for a message"),
};

/** Creates the error for a message that its task does not accept in the state `state`. */
export function createMessageRefusalError(
  refusal: MessageRefusal,
  taskId: string,
  state: TaskState | undefined,
): A2AError {
  return REFUSAL_ERROR_FACTORIES[refusal](taskId, state);
}

function createAgentWorkingError(taskId: string): A2AError {
  const text = `Task ${taskId} is running and accepts no messages until it stops; wait for it, or cancel it.`;
  return new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId } });
}

function createSteeringRefusedError(taskId: string, ability: string): A2AError {
  const text = `The agent of task ${taskId} does not ${ability}; wait until the task stops, or cancel it.`;
  return new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId } });
}
