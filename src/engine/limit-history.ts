import type { Task } from "../protocol/index.ts";

/**
 * Returns the task with at most `length` of its most recent messages. A `length` of 0 omits the history,
 * and `undefined` keeps all messages (A2A §3.2.4).
 */
export function limitHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || !task.history) return task;
  const { history, ...rest } = task;
  return length === 0 ? rest : { ...rest, history: history.slice(-length) };
}
