import type { Message } from "../protocol/index.ts";

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
