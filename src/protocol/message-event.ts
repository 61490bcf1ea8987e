import { MESSAGE_EVENTS_EXTENSION_URI } from "./declared-extensions.ts";
import type { StreamResponse, TaskStatusUpdateEvent } from "./event.ts";
import { isObject, type JsonObject } from "./json.ts";
import type { Message } from "./message.ts";

const MESSAGE_KEY = `${MESSAGE_EVENTS_EXTENSION_URI}/message`;

/**
 * Converts a user's message in the log of a task to a status update. For clients that do not know the
 * extension, the task is WORKING without a status message, which is also its state after the message.
 */
export function toMessageStatusUpdate(message: Message): { statusUpdate: TaskStatusUpdateEvent } {
  const { taskId = "", contextId = "" } = message;
  // A message is JSON, but an interface has no index signature.
  const metadata = { [MESSAGE_KEY]: message as unknown as JsonObject };
  return { statusUpdate: { taskId, contextId, status: { state: "TASK_STATE_WORKING" }, metadata } };
}

/** Returns the JSON of the message that `toMessageStatusUpdate` put into a status update. */
export function findMessageJsonInStatusUpdate(event: StreamResponse): JsonObject | undefined {
  const json = "statusUpdate" in event ? event.statusUpdate.metadata?.[MESSAGE_KEY] : undefined;
  return isObject(json) ? json : undefined;
}
