import { toA2aMetadataKey } from "../metadata.ts";
import type { AdkEvent } from "../types.ts";

/** Keys of custom metadata in which session events store the peer's ids. */
export const TASK_ID_KEY: "a2a:task_id" = toA2aMetadataKey("task_id");
export const CONTEXT_ID_KEY: "a2a:context_id" = toA2aMetadataKey("context_id");
/** Key for the message id of an answer without a task, which may also lack a context. */
export const MESSAGE_ID_KEY: "a2a:message_id" = toA2aMetadataKey("message_id");
/** Key for the interrupted state of the peer's task. */
export const TASK_STATE_KEY: "a2a:state" = toA2aMetadataKey("state");
/** Key for the local task on whose behalf the peer's task waits. */
export const LOCAL_TASK_ID_KEY: "a2a:for_task" = toA2aMetadataKey("for_task");
/** Key for the ids of the complete artifacts in an event. */
export const ARTIFACT_IDS_KEY: "a2a:artifact_ids" = toA2aMetadataKey("artifact_ids");

/** Sets a custom metadata value unless the value is empty. */
export function setCustomMetadata(
  event: AdkEvent,
  key: string,
  value: string | readonly string[] | undefined,
): void {
  if (value?.length) event.customMetadata = { ...event.customMetadata, [key]: value };
}

export function getCustomMetadataText(key: string, { customMetadata }: AdkEvent): string | undefined {
  const value = customMetadata?.[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Returns true if an event contains output of the peer. Events that the local agent creates itself, such as
 * connection errors, have no `a2a:` keys.
 */
export function isAnswerFrom(name: string, { author, partial, customMetadata = {} }: AdkEvent): boolean {
  return author === name && !partial && Object.keys(customMetadata).some((key) => key.startsWith("a2a:"));
}

/** Returns the ids of a task's artifacts that are already in the session. */
export function listKnownArtifactIds(events: readonly AdkEvent[], taskId: string | undefined): string[] {
  if (taskId === undefined) return [];
  const taskEvents = events.filter((event) => getCustomMetadataText(TASK_ID_KEY, event) === taskId);
  return taskEvents.flatMap(({ customMetadata }) => {
    const ids = customMetadata?.[ARTIFACT_IDS_KEY];
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  });
}
