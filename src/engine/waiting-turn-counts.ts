import type { Turn } from "./turn.ts";

/** Why a turn waits. */
export type TurnWaitReason = "task" | "context" | "time";

/**
 * Numbers of waiting turns of an engine by reason. `task`: another turn of the task runs. `context`: another turn of the
 * context runs. `time`: the agent has suspended the turn.
 */
export type WaitingTurnCounts = Readonly<Record<TurnWaitReason, number>>;

/** The turns of a task, as far as their counts need them. */
interface CountedTurns {
  readonly queuedTurnCount: number;
  readonly currentTurn: Pick<Turn, "wakeAt" | "hasEnded"> | undefined;
}

/** Counts the waiting turns of tasks. `waitingForContext` is the number of turns that wait for their context. */
export function countWaitingTurns(
  tasks: Iterable<CountedTurns>,
  waitingForContext: number,
): WaitingTurnCounts {
  let waitingForTask = 0;
  let waitingForTime = 0;
  for (const { queuedTurnCount, currentTurn } of tasks) {
    waitingForTask += queuedTurnCount;
    if (currentTurn?.wakeAt !== undefined && !currentTurn.hasEnded) waitingForTime++;
  }
  return { task: waitingForTask, context: waitingForContext, time: waitingForTime };
}
