import { A2AError, fold, isEventRefusal, copyTask, type Message, type Task } from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import type { TaskScope } from "./caller.ts";
import { findUserMessageInEvent, type MessageAcceptor } from "./message-acceptor.ts";
import type { TurnRestartData } from "./turn-restart-data.ts";
import { readLog } from "./read-task-log.ts";
import type { TaskRunner } from "./task-runner.ts";
import type { RunnerRegistry } from "./runner-registry.ts";
import type { TaskStore, UnfinishedTask } from "./task-store.ts";

const SERVER_STOPPED_TEXT = "The server stopped while the agent was running; send the message again.";
const formatTooManyTurnAttemptsText = (attempts: number): string =>
  `The server stopped in each of ${attempts} attempts to process this message; it will not be retried.`;

/** Number of orphaned tasks that the engine recovers concurrently. */
const RECOVERY_BATCH_SIZE = 256;

export interface RecoveryDependencies {
  readonly agent: Agent;
  readonly agentId: string;
  readonly store: TaskStore;
  readonly runners: RunnerRegistry;
  readonly inbox: MessageAcceptor;
  /** Maximum number of attempts at a turn. */
  readonly turnAttempts: number;
}

/**
 * Recovers the tasks whose agent runs ended with an earlier process. A turn is started again if
 * `Agent.afterRestart` allows a restart and the store has persisted the turn. If a task's turn cannot be
 * started again, the task fails with a reason (E9).
 */
export async function recoverTasks(context: RecoveryDependencies): Promise<void> {
  const orphans = (await context.store.listUnfinished()).filter(
    ({ scope }) => scope.agent === context.agentId,
  );
  for (let at = 0; at < orphans.length; at += RECOVERY_BATCH_SIZE) {
    // Wait for the entire batch before reporting a failure, so that a retry does not overlap with unfinished
    // recoveries.
    const settled = await Promise.allSettled(
      orphans.slice(at, at + RECOVERY_BATCH_SIZE).map((orphan) => recoverTask(orphan, context)),
    );
    for (const result of settled) if (result.status === "rejected") throw result.reason;
  }
}

async function recoverTask(orphan: UnfinishedTask, context: RecoveryDependencies): Promise<void> {
  const runner = await context.runners.findOrLoadAndRetain(orphan.scope, orphan.taskId);
  if (!runner) return;
  try {
    // The task is not orphaned: an earlier recovery in this process restarted it and then failed at another
    // task.
    if (runner.currentTurn) return;
    const failureReason = await restartTurnOrGetFailureReason(runner, orphan, context);
    if (failureReason === undefined) return;
    runner.failOrphanedTask(failureReason);
    await runner.liveTask.waitForCommit();
  } finally {
    runner.release();
  }
}

/** Starts the task's turn again, or returns the reason why the task must fail instead. */
async function restartTurnOrGetFailureReason(
  runner: TaskRunner,
  { scope, taskId, turn: persisted }: UnfinishedTask,
  { agent, store, inbox, turnAttempts }: RecoveryDependencies,
): Promise<string | undefined> {
  const { afterRestart = "fail" } = agent;
  if (afterRestart === "fail" || !persisted) return SERVER_STOPPED_TEXT;
  if (persisted.attempt >= turnAttempts) return formatTooManyTurnAttemptsText(persisted.attempt);
  const { message, task } = await readMessageAndTaskAtTurnStart(persisted, scope, taskId, store);
  try {
    const turn = inbox.createNextTurnAttempt(scope, persisted, message);
    await runner.restartTurnAfterServerRestart(turn, persisted.seq, task, afterRestart);
    return undefined;
  } catch (error) {
    // The server has more orphaned tasks than it may run concurrently.
    if (error instanceof A2AError && error.reason === "RESOURCE_EXHAUSTED") return SERVER_STOPPED_TEXT;
    throw error;
  }
}

/**
 * Resolves with a turn's message and the task at the start of the turn. The returned task includes the
 * messages that the agent accepted during the turn through `deliver`.
 */
async function readMessageAndTaskAtTurnStart(
  { seq: turnSeq }: TurnRestartData,
  scope: TaskScope,
  taskId: string,
  store: TaskStore,
): Promise<{ message: Message; task: Task }> {
  let task: Task | undefined;
  let message: Message | undefined;
  for await (const { seq, event } of readLog(store, { scope, taskId }, 0)) {
    if (seq === turnSeq) message = findUserMessageInEvent(event);
    if (seq > turnSeq && !("message" in event)) continue;
    const folded = fold(task, event);
    if (!isEventRefusal(folded)) task = folded;
  }
  if (task && message) return { message, task: copyTask(task) };
  const text = `The log of task ${taskId} has no message at ${turnSeq}; restore the store from a backup.`;
  throw new A2AError("INTERNAL", text);
}
