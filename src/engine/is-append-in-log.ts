import type { LogAppend, TaskStore } from "./task-store.ts";

/**
 * Resolves with true if the log of the task contains exactly the events of the append. After a failure with an
 * unknown outcome, such as a failed sync, the log decides whether the append is stored.
 */
export async function isAppendInLog(
  store: TaskStore,
  { scope, taskId, expectedSeq, events }: LogAppend,
): Promise<boolean> {
  if (events.length === 0) return false;
  const limit = { events: events.length, maxBytes: Infinity };
  const logged = await store.readEvents(scope, taskId, expectedSeq, limit);
  return (
    logged.length === events.length && logged.every(({ jsonText }, at) => jsonText === events[at]?.jsonText)
  );
}
