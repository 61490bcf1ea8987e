import type { LogAppend, TaskStore } from "./task-store.ts";

/**
 * Resolves with true if the store contains exactly the events of the append, or its queued turns if the append
 * has no events. After a failure with an unknown outcome, such as a failed sync, the store decides whether the
 * append is stored.
 */
export async function isAppendStored(store: TaskStore, append: LogAppend): Promise<boolean> {
  const { scope, taskId, expectedSeq, events } = append;
  if (events.length === 0) return await areQueuedTurnsStored(store, append);
  const limit = { events: events.length, maxBytes: Infinity };
  const logged = await store.readEvents(scope, taskId, expectedSeq, limit);
  return (
    logged.length === events.length && logged.every(({ jsonText }, at) => jsonText === events[at]?.jsonText)
  );
}

async function areQueuedTurnsStored(
  store: TaskStore,
  { scope, taskId, queueChange: { added } = { added: [] } }: LogAppend,
): Promise<boolean> {
  if (added.length === 0) return false;
  const { queuedTurns = [] } = (await store.load(scope, taskId)) ?? {};
  return added.every(({ position, message: { messageId } }) =>
    queuedTurns.some((stored) => stored.position === position && stored.message.messageId === messageId),
  );
}
