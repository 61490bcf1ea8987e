import type { DeletableTask, TaskDeletionOptions } from "./task-deletion-store.ts";

/**
 * Calls `work` for each task until the time is up or a task is in use, and returns the number of completed
 * tasks. `work` returns false if the time was up before the task was completed.
 */
export function deleteInOrder(
  tasks: readonly DeletableTask[],
  { budgetMs, isInUse }: TaskDeletionOptions,
  work: (task: DeletableTask, isTimeUp: () => boolean) => boolean,
): number {
  const deadline = performance.now() + budgetMs;
  const isTimeUp = (): boolean => performance.now() >= deadline;
  let completed = 0;
  for (const task of tasks) {
    if (isInUse?.(task) || !work(task, isTimeUp)) break;
    completed++;
    if (isTimeUp()) break;
  }
  return completed;
}
