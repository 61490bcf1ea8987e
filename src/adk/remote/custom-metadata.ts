import { toA2aMetadataKey } from "../metadata.ts";
import type { AdkEvent } from "../types.ts";

/** The keys under which the events of a session remember what their peer knows them by. */
export const TASK_ID_KEY: "a2a:task_id" = toA2aMetadataKey("task_id");
export const CONTEXT_ID_KEY: "a2a:context_id" = toA2aMetadataKey("context_id");
/** Of an answer without a task, which need not name a context either. */
export const MESSAGE_ID_KEY: "a2a:message_id" = toA2aMetadataKey("message_id");
/** The state in which a task waits. */
export const TASK_STATE_KEY: "a2a:state" = toA2aMetadataKey("state");
/** For which task of ours the peer's task waits. */
export const LOCAL_TASK_ID_KEY: "a2a:for_task" = toA2aMetadataKey("for_task");
/** The artifacts that an event tells as a whole. */
export const ARTIFACT_IDS_KEY: "a2a:artifact_ids" = toA2aMetadataKey("artifact_ids");

/** Writes one of them, unless there is nothing to write. */
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
 * True for what the peer itself has said. What its stand-in says without it, such as that it cannot be reached, has
 * none of these keys.
 */
export function isAnswerFrom(name: string, { author, partial, customMetadata = {} }: AdkEvent): boolean {
  return author === name && !partial && Object.keys(customMetadata).some((key) => key.startsWith("a2a:"));
}

/** The artifacts that a session has of a task. */
export function listKnownArtifactIds(events: readonly AdkEvent[], taskId: string | undefined): string[] {
  if (taskId === undefined) return [];
  const ofTask = events.filter((event) => getCustomMetadataText(TASK_ID_KEY, event) === taskId);
  return ofTask.flatMap(({ customMetadata }) => {
    const ids = customMetadata?.[ARTIFACT_IDS_KEY];
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  });
}
