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
  readonly queue: { readonly length: number };
  readonly current: Pick<Turn, "wakeAt" | "hasEnded"> | undefined;
}

/** Counts the waiting turns of runners. `waitingForContext` is the number of turns that wait for their context. */
export function countWaitingTurns(
  runners: Iterable<{ readonly turns: CountedTurns }>,
  waitingForContext: number,
): WaitingTurnCounts {
  let task = 0;
  let time = 0;
  for (const { turns } of runners) {
    task += turns.queue.length;
    if (turns.current?.wakeAt !== undefined && !turns.current.hasEnded) time++;
  }
  return { task, context: waitingForContext, time };
}
