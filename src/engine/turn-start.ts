import { fold, isEventRefusal, type Message, type Task, type TaskState } from "../protocol/index.ts";

/** Size in characters of a new task without its message: its ids and its status. */
export const MAX_SIZE_OF_NEW_TASK = 400;

/** A task that receives the message of a turn. */
interface TaskAtTurnStart {
  readonly taskId: string;
  readonly contextId: string;
  /** Undefined before the task is created. */
  readonly state: TaskState | undefined;
  getNextStatusTimestamp(): string;
  getSnapshot(): Task;
}

/** Returns a copy of the task that contains the message of a new turn. */
export function buildTaskWithTurnMessage(task: TaskAtTurnStart, message: Message): Task {
  if (task.state === undefined) {
    const status = { state: "TASK_STATE_SUBMITTED", timestamp: task.getNextStatusTimestamp() } as const;
    return { id: task.taskId, contextId: task.contextId, status, history: [message] };
  }
  // A finished task refuses the message, and `fold` does not change the task.
  const snapshot = task.getSnapshot();
  const changed = fold(snapshot, { message });
  return isEventRefusal(changed) ? snapshot : changed;
}
