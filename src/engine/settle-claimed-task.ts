import { A2AError, copyTask, fold, isEventRefusal, type Message, type Task } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import { findUserMessageInEvent } from "./repeated-messages.ts";
import type { TurnAdmission, TurnFactory } from "./turn-factory.ts";
import { countFailedAttempts, type TurnRestartData } from "./turn-restart-data.ts";
import { readLog } from "./log-events.ts";
import { createServerClosingError } from "./task-errors.ts";
import type { ActiveTask, ActiveTaskDependencies } from "./active-task.ts";
import type { TaskRegistry } from "./task-registry.ts";
import type { TaskCancellation } from "./task-feed.ts";
import type { TaskStore, ClaimedTask } from "./task-store.ts";

const SERVER_STOPPED_TEXT = "The server stopped while the agent was running; send the message again.";
const STORE_FAILED_TEXT = "The task store failed while the agent was running; send the message again.";
const formatTooManyTurnAttemptsText = (attempts: number): string =>
  `The server stopped in each of ${attempts} attempts to process this message; it will not be retried.`;

export interface SettlementDependencies extends Pick<ActiveTaskDependencies, "agent" | "store" | "observer"> {
  readonly tasks: TaskRegistry;
  readonly turnAdmission: TurnAdmission;
  readonly turnFactory: TurnFactory;
  /** Maximum number of attempts at a turn. */
  readonly turnAttempts: number;
  /** Returns true once the engine is closing and must start no more turns. */
  readonly isStopped: () => boolean;
}

/** A claimed task, and the CancelTask request that this node has received for the task. */
export interface TaskToSettle extends ClaimedTask {
  readonly cancellation?: TaskCancellation;
}

/**
 * Settles a claimed task whose turn has no running agent. A turn starts again if `Agent.afterRestart` allows it
 * and the store has persisted the turn. Otherwise, the task fails with a reason (E9). Resolves once the store
 * has committed the new attempt or the failure. Rejects with `RESOURCE_EXHAUSTED` if the turn must wait for room.
 */
export async function settleClaimedTask(
  claimed: TaskToSettle,
  isStoreFailure: boolean,
  context: SettlementDependencies,
): Promise<void> {
  const task = await openClaimedTask(claimed, context.tasks);
  if (!task) return;
  try {
    task.adoptLease(claimed);
    if (task.currentTurn) return;
    if (claimed.isCancelRequested || claimed.cancellation) {
      const {
        reason = "The task was canceled.",
        caller = claimed.scope,
        metadata = {},
      } = claimed.cancellation ?? {};
      task.cancel({ reason, caller, metadata });
      await task.waitUntilNothingIsPending();
      task.isAwaitingRecovery = false;
      return;
    }
    const interruptionText = isStoreFailure ? STORE_FAILED_TEXT : SERVER_STOPPED_TEXT;
    const failureReason = await restartTurnOrGetFailureReason(task, claimed, interruptionText, context);
    if (failureReason !== undefined) {
      task.writeStatus("TASK_STATE_FAILED", failureReason);
      await task.waitUntilNothingIsPending();
    }
    task.isAwaitingRecovery = false;
  } finally {
    task.release();
  }
}

/**
 * Opens the task with the last event of the log. Stops the agent of an earlier turn, which can still run after it has
 * asked its user, although other nodes have continued the task.
 */
async function openClaimedTask(
  { scope, taskId, seq }: ClaimedTask,
  tasks: TaskRegistry,
): Promise<ActiveTask | undefined> {
  const task = await tasks.open(scope, taskId, "recovery");
  if (!task || task.seq === seq) return task;
  await task.abandonOutdated();
  task.release();
  return await tasks.open(scope, taskId, "recovery");
}

/** Starts the task's turn again, or returns the reason why the task must fail instead. */
async function restartTurnOrGetFailureReason(
  task: ActiveTask,
  { scope, taskId, turn: persisted }: ClaimedTask,
  interruptionText: string,
  { agent, store, turnAdmission, turnFactory, observer, turnAttempts, isStopped }: SettlementDependencies,
): Promise<string | undefined> {
  const { afterRestart = "fail" } = agent.current;
  if (!persisted) return interruptionText;
  const { attempt } = persisted;
  const failedAttempts = countFailedAttempts(persisted);
  // A turn whose agent has never started needs no permission to start again.
  if (afterRestart === "fail" && attempt > 0) return interruptionText;
  if (failedAttempts >= turnAttempts) return formatTooManyTurnAttemptsText(failedAttempts);
  const start = await findMessageAndTaskAtTurnStart(persisted, scope, taskId, store);
  if (!start) {
    const text = `The log of task ${taskId} has no message at ${persisted.seq}; restore the store from a backup.`;
    observer.onError?.({ where: "recovery", error: new A2AError("INTERNAL", text), taskId });
    return interruptionText;
  }
  const steps = (await store.turns?.readSteps(scope, taskId, persisted.seq)) ?? [];
  if (isStopped()) throw createServerClosingError();
  try {
    const turn = turnFactory.createNextAttempt(scope, persisted, start.message);
    turn.restoreSteps(steps);
    const mode = afterRestart === "fail" ? "restart" : afterRestart;
    await task.startClaimedTurn(turn, persisted.seq, start.task, mode, persisted.wakeAt);
    return undefined;
  } catch (error) {
    // No other turn can make room for a turn that the limits do not admit alone.
    const isTooLarge = error instanceof A2AError && error.reason === "RESOURCE_EXHAUSTED";
    if (isTooLarge && attempt > 0 && turnAdmission.turnCount === 0) return interruptionText;
    throw error;
  }
}

/**
 * Resolves with a turn's message and the task at the start of the turn. The returned task includes the
 * messages that the agent accepted during the turn through `deliver`. Resolves with `undefined` if the log has
 * no message at the start of the turn.
 */
async function findMessageAndTaskAtTurnStart(
  { seq: turnSeq }: TurnRestartData,
  scope: TaskScope,
  taskId: string,
  store: TaskStore,
): Promise<{ message: Message; task: Task } | undefined> {
  let task: Task | undefined;
  let message: Message | undefined;
  for await (const { seq, event } of readLog(store, { scope, taskId }, 0)) {
    if (seq === turnSeq) message = findUserMessageInEvent(event);
    if (seq > turnSeq && !("message" in event)) continue;
    const folded = fold(task, event);
    if (!isEventRefusal(folded)) task = folded;
  }
  return task && message ? { message, task: copyTask(task) } : undefined;
}
