import type { ActiveTask } from "./active-task.ts";
import type { Turn } from "./turn.ts";

/** Why a turn waits. */
export type TurnWaitReason = "task" | "context" | "time" | "recovery";

/**
 * Numbers of waiting turns of an engine by reason. `task`: another turn of the task runs. `context`: another turn of the
 * context runs. `time`: the agent has suspended the turn. `recovery`: the node of the turn died in at least two attempts,
 * so the turn starts after other such turns.
 */
export type WaitingTurnCounts = Readonly<Record<TurnWaitReason, number>>;

/** The turns of a task, as far as their counts need them. */
interface CountedTurns {
  readonly queuedTurnCount: number;
  readonly currentTurn: Pick<Turn, "wakeAt" | "hasEnded"> | undefined;
}

/** Counts the waiting turns of tasks, and adds the numbers of turns that wait for other reasons. */
export function countWaitingTurns(
  tasks: Iterable<CountedTurns>,
  waitingForContext: number,
  waitingForRecovery: number,
): WaitingTurnCounts {
  let waitingForTask = 0;
  let waitingForTime = 0;
  for (const { queuedTurnCount, currentTurn } of tasks) {
    waitingForTask += queuedTurnCount;
    if (currentTurn?.wakeAt !== undefined && !currentTurn.hasEnded) waitingForTime++;
  }
  return {
    task: waitingForTask,
    context: waitingForContext,
    time: waitingForTime,
    recovery: waitingForRecovery,
  };
}

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
