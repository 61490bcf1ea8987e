import type { Message } from "../protocol/index.ts";

/**
 * True when a message that came again says the same as the one that was accepted (E10). The ids that the server filled
 * in are compared only when the caller gave them.
 */
export function isSameMessage(again: Message, accepted: Message): boolean {
  if (again.taskId !== undefined && again.taskId !== accepted.taskId) return false;
  if (again.contextId !== undefined && again.contextId !== accepted.contextId) return false;
  return serializeContent(again) === serializeContent(accepted);
}

function serializeContent({ parts, metadata, extensions, referenceTaskIds }: Message): string {
  return JSON.stringify([parts, metadata ?? null, extensions ?? [], referenceTaskIds ?? []]);
}
