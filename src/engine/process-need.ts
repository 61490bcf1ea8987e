import type { ActiveTask } from "./active-task.ts";

/**
 * Resolves once no task needs the process. A task needs the process while its agent works, or while the output of the
 * agent is not committed.
 */
export async function waitWhileProcessIsNeeded(listTasks: () => readonly ActiveTask[]): Promise<void> {
  for (;;) {
    const working = listTasks().filter(isProcessNeeded);
    if (working.length === 0) return;
    await Promise.all(working.map(waitForTask));
  }
}

/**
 * The process may stop while the agent waits for its user or in `Run.suspend`. If several nodes share the store, this
 * node must release a suspended turn first.
 */
function isProcessNeeded(task: ActiveTask): boolean {
  const isSuspended = task.currentTurn?.wakeAt !== undefined && !task.isSharedWithNodes;
  const isWaiting = isSuspended || task.state === "TASK_STATE_INPUT_REQUIRED";
  return task.hasUncommittedEvents || (task.isAgentWorking && !isWaiting);
}

/** Resolves once the current turn of the task has ended or needs no process. */
async function waitForTask(task: ActiveTask): Promise<void> {
  const turn = task.currentTurn;
  turn?.onEnd(() => task.notifyTurnChange());
  while (task.currentTurn === turn && isProcessNeeded(task))
    await task.waitForCommitOrTurnChange().catch(() => task.waitForTurnEnd());
}
