import {
  fold,
  isEventRefusal,
  isInterrupted,
  isTerminal,
  type LogEvent,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";

/** Applies committed events to a task. Throws if the events are no valid log. */
export function foldLogEvents(taskId: string, from: Task | undefined, events: readonly LogEvent[]): Task {
  let task = from;
  for (const { event } of events) {
    const folded = fold(task, event);
    // Every event was validated when it was accepted.
    if (isEventRefusal(folded))
      throw new Error(`The log of task ${taskId} is invalid: ${folded.refusalReason}`);
    task = folded;
  }
  if (!task) throw new Error(`The log of task ${taskId} is empty.`);
  return task;
}

/** Returns true if an event of a commit ends the turn, because the state is terminal or waits for the user. */
export function hasTurnStop(state: TaskState, events: readonly LogEvent[]): boolean {
  return isTurnStopState(state) && events.some(isTurnStopEvent);
}

/** Returns the status that the task has after an event, or `undefined` if the event has no status. */
export function getEventStatus(event: TaskEvent): Task["status"] | undefined {
  if ("statusUpdate" in event) return event.statusUpdate.status;
  return "task" in event ? event.task.status : undefined;
}

/** Returns true if an event ends the turn of its task, because the state is terminal or waits for the user. */
export function isTurnStopEvent({ event }: Pick<LogEvent, "event">): boolean {
  const state = "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
  return state !== undefined && isTurnStopState(state);
}

function isTurnStopState(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}
