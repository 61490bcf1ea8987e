import { A2AError, formatTaskState, type Message, type TaskState } from "../protocol/index.ts";
import type { MessageRefusal } from "./decide-message-outcome.ts";
import type { AppendRefusal } from "./task-store.ts";

export function createServerClosingError(): A2AError {
  return new A2AError("UNAVAILABLE", "The server is closing; try again in a moment.", { retryAfter: 1 });
}

/** Creates the error for requests that need a task whose turn waits for recovery. */
export function createTaskAwaitsRecoveryError(taskId: string): A2AError {
  const text = `Task ${taskId} was interrupted by a fault of the server, which recovers the task as soon as its store is available; try again in a moment.`;
  return new A2AError("UNAVAILABLE", text, { retryAfter: 1, metadata: { taskId } });
}

/**
 * Creates the error for the readers of a task whose log has lost events, for example because a database has failed over
 * to a replica that was behind. Clients that receive `metadata.logWentBack` read the task again from its current state.
 */
export function createLogWentBackError(taskId: string, readSeq: number, lastSeq: number): A2AError {
  const text = `The log of task ${taskId} went back from event ${readSeq} to event ${lastSeq}, because its database lost the last commits; subscribe again without a Last-Event-ID.`;
  const metadata = { taskId, logWentBack: "true" };
  return new A2AError("UNAVAILABLE", text, { retryAfter: 1, metadata });
}

/** Creates the error for an agent whose output exceeds the size limit of a task. */
export function createTaskTooLargeError(limit: number): A2AError {
  const text = `The task is larger than the limit of ${limit} characters, so the server stopped the agent. Ask for a shorter answer, or in several tasks.`;
  return new A2AError("RESOURCE_EXHAUSTED", text);
}

/** Creates the error for an agent that continues after the server has ended its turn. */
export function createTurnEndedError(taskId: string): A2AError {
  const text = `The turn of task ${taskId} has ended, so the agent can execute no more steps. Stop when the signal aborts.`;
  return new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId } });
}

/** Creates the error for a message to a task that can no longer accept messages (A2A §3.1.1). */
export function createTaskEndedError(taskId: string, state: TaskState | undefined): A2AError {
  const status = state ? formatTaskState(state) : "gone";
  return new A2AError(
    "UNSUPPORTED_OPERATION",
    `Task ${taskId} is ${status} and accepts no more messages; send the message without a taskId to start a new task in the same context.`,
    { metadata: { taskId } },
  );
}

const APPEND_REFUSAL_REASON_TEXTS: Record<AppendRefusal, string> = {
  conflict: "another writer has changed it",
  "duplicate-message": "its message was sent twice at the same time",
};

/** Returns true for the error of an append that the store has refused, because another writer was first. */
export function isChangeByOtherWriter(error: unknown): boolean {
  return (
    error instanceof A2AError && typeof error.cause === "string" && error.cause in APPEND_REFUSAL_REASON_TEXTS
  );
}

/** Creates the error for the callers and readers of a task whose events could not be committed. */
export function createCommitFailedError(taskId: string, cause: AppendRefusal | Error): A2AError {
  const reason =
    typeof cause === "string" ? APPEND_REFUSAL_REASON_TEXTS[cause] : "the store is not available";
  const text = `Task ${taskId} could not be stored: ${reason}. Try again later.`;
  return new A2AError("UNAVAILABLE", text, { cause, metadata: { taskId }, retryAfter: 1 });
}

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
