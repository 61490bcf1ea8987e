import type { TaskRunner } from "./task-runner.ts";

/**
 * Resolves once no runner needs the process. A runner needs the process while its agent works, or while the output of the
 * agent is not committed.
 */
export async function waitWhileProcessIsNeeded(listRunners: () => readonly TaskRunner[]): Promise<void> {
  for (;;) {
    const working = listRunners().filter(isProcessNeeded);
    if (working.length === 0) return;
    await Promise.all(working.map(waitForRunner));
  }
}

/**
 * The process may stop while the agent waits for its user or in `Run.suspend`. If several nodes share the store, this
 * node must release a suspended turn first.
 */
function isProcessNeeded({ liveTask, turns, isSharedWithNodes }: TaskRunner): boolean {
  const isSuspended = turns.current?.wakeAt !== undefined && !isSharedWithNodes;
  const isWaiting = isSuspended || liveTask.state === "TASK_STATE_INPUT_REQUIRED";
  return liveTask.hasUncommittedEvents || (turns.isAgentWorking && !isWaiting);
}

/** Resolves once the current turn of the runner has ended or needs no process. */
async function waitForRunner(runner: TaskRunner): Promise<void> {
  const { liveTask, turns } = runner;
  const turn = turns.current;
  turn?.onEnd(() => liveTask.notifyTurnChange());
  while (turns.current === turn && isProcessNeeded(runner))
    await liveTask.waitForCommitOrTurnChange().catch(() => turns.waitForTurnEnd());
}
