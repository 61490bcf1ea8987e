import type { Message, Task } from "../protocol/index.ts";

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
