import { A2AError, fold, isRefusal, type LogEvent, type Task } from "../protocol/index.ts";

/** Folds logged events into `task`, which the caller gives up; undefined when there is neither a task nor an event. */
export function replay(task: Task | undefined, events: Iterable<LogEvent>): Task | undefined {
  let folded = task;
  for (const { seq, event } of events) {
    const result = fold(folded, event);
    if (isRefusal(result)) {
      throw new A2AError(
        "INTERNAL",
        `The log of a task is damaged at event ${seq}: ${result.refused}. Restore the store from a backup.`,
      );
    }
    folded = result;
  }
  return folded;
}
