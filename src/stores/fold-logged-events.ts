import { A2AError, fold, isEventRefusal, type LogEvent, type Task } from "../protocol/index.ts";

/**
 * Applies logged events to `task`, and returns the result. Callers must not use `task` after the call.
 * Returns `undefined` if there is neither a task nor an event.
 */
export function foldLoggedEvents(task: Task | undefined, events: Iterable<LogEvent>): Task | undefined {
  let folded = task;
  for (const { seq, event } of events) {
    const result = fold(folded, event);
    if (isEventRefusal(result)) {
      throw new A2AError(
        "INTERNAL",
        `The log of a task is corrupt at event ${seq}: ${result.refusalReason}. Restore the store from a backup.`,
      );
    }
    folded = result;
  }
  return folded;
}
