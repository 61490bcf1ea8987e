import type { Message, Task } from "../protocol/index.ts";

/**
 * Returns true if a repeated message has the same content as the accepted message (E10). Task and context
 * ids are compared only if the repeated message contains them, because the server assigns missing ids.
 */
export function isSameMessage(repeated: Message, accepted: Message): boolean {
  if (repeated.taskId !== undefined && repeated.taskId !== accepted.taskId) return false;
  if (repeated.contextId !== undefined && repeated.contextId !== accepted.contextId) return false;
  return serializeMessageContent(repeated) === serializeMessageContent(accepted);
}

function serializeMessageContent({ parts, metadata, extensions, referenceTaskIds }: Message): string {
  return JSON.stringify([parts, metadata ?? null, extensions ?? [], referenceTaskIds ?? []]);
}

/** Returns the user message of a logged event, or `undefined` if the event has no user message. */
export function findUserMessageInEvent(event: { task?: unknown } | object): Message | undefined {
  if ("message" in event) return event.message as Message;
  if ("task" in event) return (event.task as { history?: Message[] }).history?.at(-1);
  return undefined;
}

/** Finds a user message in the task's history, which remains after the store has deleted the task's events. */
export function findUserMessageInHistory({ history = [] }: Task, messageId: string): Message | undefined {
  return history.find((message) => message.role === "ROLE_USER" && message.messageId === messageId);
}
