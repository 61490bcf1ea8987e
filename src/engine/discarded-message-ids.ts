import type { TaskEvent } from "../protocol/index.ts";

/** Key of the task metadata with the ids of the queued messages that the end of the task discarded. */
export const DISCARDED_MESSAGE_IDS_METADATA_KEY = "colloquy:discardedMessageIds";

/** Returns the final status update of a task with the ids of its discarded messages in the metadata. */
export function withDiscardedMessageIds(
  { statusUpdate }: Extract<TaskEvent, { statusUpdate: unknown }>,
  messageIds: readonly string[],
): TaskEvent {
  const metadata = { ...statusUpdate.metadata, [DISCARDED_MESSAGE_IDS_METADATA_KEY]: [...messageIds] };
  return { statusUpdate: { ...statusUpdate, metadata } };
}
