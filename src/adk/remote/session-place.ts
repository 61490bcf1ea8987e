import { a2aKey } from "../metadata.ts";
import type { AdkEvent } from "../types.ts";

/** The keys under which the events of a session remember what their peer knows them by. */
export const TASK_ID: "a2a:task_id" = a2aKey("task_id");
export const CONTEXT_ID: "a2a:context_id" = a2aKey("context_id");
/** Of an answer without a task, which need not name a context either. */
export const MESSAGE_ID: "a2a:message_id" = a2aKey("message_id");
/** The state in which a task waits. */
export const STATE: "a2a:state" = a2aKey("state");
/** For which task of ours the peer's task waits. */
export const FOR_TASK: "a2a:for_task" = a2aKey("for_task");
/** The artifacts that an event tells as a whole. */
export const ARTIFACT_IDS: "a2a:artifact_ids" = a2aKey("artifact_ids");

/** Writes one of them, unless there is nothing to write. */
export function remember(event: AdkEvent, key: string, value: string | readonly string[] | undefined): void {
  if (value?.length) event.customMetadata = { ...event.customMetadata, [key]: value };
}

export function textUnder(key: string, { customMetadata }: AdkEvent): string | undefined {
  const value = customMetadata?.[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * True for what the peer itself has said. What its stand-in says without it, such as that it cannot be reached, has
 * none of these keys.
 */
export function isAnswerOf(name: string, { author, partial, customMetadata = {} }: AdkEvent): boolean {
  return author === name && !partial && Object.keys(customMetadata).some((key) => key.startsWith("a2a:"));
}

/** The artifacts that a session has of a task. */
export function artifactsKnown(events: readonly AdkEvent[], taskId: string | undefined): string[] {
  if (taskId === undefined) return [];
  const ofTask = events.filter((event) => textUnder(TASK_ID, event) === taskId);
  return ofTask.flatMap(({ customMetadata }) => {
    const ids = customMetadata?.[ARTIFACT_IDS];
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  });
}
