import { addA2aPrefixToCustomMetadataKey } from "../adk-event-metadata.ts";
import { isReservedCallName } from "../reserved-calls.ts";
import type { AdkEvent } from "../adk-structural-types.ts";

/** Custom metadata keys for the peer's ids in a session event. */
export const PEER_TASK_ID_METADATA_KEY: "a2a:task_id" = addA2aPrefixToCustomMetadataKey("task_id");
export const PEER_CONTEXT_ID_METADATA_KEY: "a2a:context_id" = addA2aPrefixToCustomMetadataKey("context_id");
/**
 * Metadata key for the message id, if the peer answers without a task. An answer without a task may also have
 * no context id.
 */
export const PEER_MESSAGE_ID_METADATA_KEY: "a2a:message_id" = addA2aPrefixToCustomMetadataKey("message_id");
/** Metadata key for the interrupted state of the peer's task. */
export const PEER_TASK_STATE_METADATA_KEY: "a2a:state" = addA2aPrefixToCustomMetadataKey("state");
/** Metadata key for the id of the local task that needs the result of the peer's task. */
export const LOCAL_TASK_ID_METADATA_KEY: "a2a:for_task" = addA2aPrefixToCustomMetadataKey("for_task");
/** Metadata key for the ids of the complete artifacts in an event. */
export const ARTIFACT_IDS_METADATA_KEY: "a2a:artifact_ids" = addA2aPrefixToCustomMetadataKey("artifact_ids");

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
 * Returns true if an event contains output of the peer. Errors that occur before the peer answers, and
 * credential requests, contain no output of the peer. Other events with content count as output, even without
 * `a2a:` keys, for example if a hook or another ADK implementation created them.
 */
export function isPeerOutputEvent(name: string, event: AdkEvent): boolean {
  const { author, partial, content, errorCode, customMetadata = {} } = event;
  if (author !== name || partial) return false;
  if (Object.keys(customMetadata).some((key) => key.startsWith("a2a:"))) return true;
  const parts = content?.parts ?? [];
  return errorCode === undefined && parts.some((part) => !isReservedCallName(part.functionCall?.name));
}

/** Copies the `a2a:` keys of an event to its replacement, unless the replacement has its own `a2a:` keys. */
export function copyPeerMetadata<Event extends AdkEvent>(from: AdkEvent, replacement: Event): Event {
  const peerEntries = Object.entries(from.customMetadata ?? {}).filter(([key]) => key.startsWith("a2a:"));
  return {
    ...replacement,
    customMetadata: { ...Object.fromEntries(peerEntries), ...replacement.customMetadata },
  };
}

/** Returns the ids of the task artifacts that the session already contains. */
export function listKnownArtifactIds(events: readonly AdkEvent[], taskId: string | undefined): string[] {
  if (taskId === undefined) return [];
  const taskEvents = events.filter(
    (event) => getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, event) === taskId,
  );
  return taskEvents.flatMap(({ customMetadata }) => {
    const ids = customMetadata?.[ARTIFACT_IDS_METADATA_KEY];
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  });
}
