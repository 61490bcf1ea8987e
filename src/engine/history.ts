import type { Task } from "../protocol/index.ts";

/** The task with at most `length` of its most recent messages; 0 leaves the history out, undefined keeps it whole (A2A §3.2.4). */
export function limitHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || !task.history) return task;
  const { history, ...rest } = task;
  return length === 0 ? rest : { ...rest, history: history.slice(-length) };
}
