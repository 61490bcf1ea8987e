import type { JsonObject, Message } from "../../protocol/index.ts";
import { toActionsMetadata, toEventMetadata } from "./adk-event-metadata.ts";
import { toA2aParts } from "./part-conversion.ts";
import type { AdkEvent } from "./adk-structural-types.ts";

/**
 * Converts an ADK event to an A2A message. Returns `undefined` if the event has no content. Long-running
 * function calls are marked in the metadata of their parts.
 */
export function eventToMessage(
  event: AdkEvent,
  newId: () => string = () => crypto.randomUUID(),
): Message | undefined {
  const longRunningIds = new Set(event.longRunningToolIds);
  const parts = toA2aParts(event.content?.parts, (id) => longRunningIds.has(id));
  if (parts.length === 0) return undefined;
  const message: Message = {
    messageId: newId(),
    role: event.author === "user" ? "ROLE_USER" : "ROLE_AGENT",
    parts,
  };
  const metadata: JsonObject = { ...toEventMetadata(event), ...toActionsMetadata(event) };
  if (Object.keys(metadata).length > 0) message.metadata = metadata;
  return message;
}
