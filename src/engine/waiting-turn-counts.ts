import type { TaskRunner } from "./task-runner.ts";

/** Why a turn waits. */
export type TurnWaitReason = "task" | "context" | "time";

/**
 * Numbers of waiting turns of an engine by reason. `task`: another turn of the task runs. `context`: another turn of the
 * context runs. `time`: the agent has suspended the turn.
 */
export type WaitingTurnCounts = Readonly<Record<TurnWaitReason, number>>;

/** Counts the waiting turns of runners. `waitingForContext` is the number of turns that wait for their context. */
export function countWaitingTurns(
  runners: Iterable<Pick<TaskRunner, "queuedTurnCount" | "currentTurn">>,
  waitingForContext: number,
): WaitingTurnCounts {
  let task = 0;
  let time = 0;
  for (const { queuedTurnCount, currentTurn } of runners) {
    task += queuedTurnCount;
    if (currentTurn?.wakeAt !== undefined && !currentTurn.hasEnded) time++;
  }
  return { task, context: waitingForContext, time };
}
