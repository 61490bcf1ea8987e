import { LogEvent, type Task } from "../protocol/index.ts";
import { awaitStartOfQueuedTurn } from "./await-start-of-queued-turn.ts";
import type { Clock } from "./clock.ts";
import { computeSubscriptionLogRange } from "./compute-subscription-log-range.ts";
import { DeferredSubscription } from "./deferred-subscription.ts";
import {
  createSingleEventSubscription,
  hasTurnRequestedInput,
  isWaitingWithoutTurn,
  LogSubscription,
  type Subscription,
} from "./log-subscription.ts";
import type { TaskMessageAcceptResult, TurnAcceptResult } from "./message-accept-result.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import type { TaskStore } from "./task-store.ts";

/** Waits until the accepted message is durable and resolves with the current task. */
export async function awaitMessageCommitAndGetTask(accepted: TaskMessageAcceptResult): Promise<Task> {
  const { runner } = accepted;
  if ("turn" in accepted && !accepted.isQueued) await accepted.turn.acceptedSeq.promise;
  const task = runner.liveTask.getSnapshot();
  if ("seq" in accepted) runner.release();
  return task;
}

/**
 * Waits until the turn of an accepted message begins. Resolves with false if the sender must receive the current task,
 * because the running turn waits for its user.
 */
export function awaitStartOfTurn(
  { runner, turn, isQueued }: TurnAcceptResult,
  clock: Clock,
): Promise<boolean> | true {
  return isQueued ? awaitStartOfQueuedTurn(runner, turn, clock) : true;
}

/**
 * Resolves with the response stream for a message. The stream of a queued message begins with its turn. If the running
 * turn waits for its user, the stream consists of the current task.
 */
export async function openMessageStream(
  accepted: TaskMessageAcceptResult,
  service: ServiceParameters,
  releaseStream: () => void,
  store: TaskStore,
  clock: Clock,
): Promise<Subscription> {
  const create = (): Promise<Subscription> => createMessageStream(accepted, service, releaseStream, store);
  if (!("turn" in accepted) || !accepted.isQueued) return await create();
  const runner = accepted.runner.retain();
  const open = async (): Promise<Subscription> => {
    try {
      if (await awaitStartOfTurn(accepted, clock)) return await create();
      releaseStream();
      const { liveTask } = runner;
      return createSingleEventSubscription(LogEvent.create(liveTask.seq, { task: liveTask.getSnapshot() }));
    } finally {
      runner.release();
    }
  };
  return new DeferredSubscription(open(), releaseStream);
}

async function createMessageStream(
  accepted: TaskMessageAcceptResult,
  { resumeAfterSeq, includesMessages }: ServiceParameters,
  releaseStream: () => void,
  store: TaskStore,
): Promise<Subscription> {
  const { runner } = accepted;
  // Retain the runner before the first commit, so that the tail keeps the committed events.
  if ("turn" in accepted) runner.retain();
  try {
    const seq = "turn" in accepted ? await accepted.turn.acceptedSeq.promise : accepted.seq;
    const span = computeSubscriptionLogRange(accepted, seq, resumeAfterSeq);
    const isStartOfTurn = "turn" in accepted && resumeAfterSeq === undefined;
    const hasStopped =
      isWaitingWithoutTurn(runner, span.afterSeq) ||
      (!isStartOfTurn && span.afterSeq > seq && (await hasTurnRequestedInput(runner, store, span)));
    if (!hasStopped) return new LogSubscription(runner, store, { ...span, includesMessages }, releaseStream);
    releaseStream();
    return createSingleEventSubscription(span.openingEvent);
  } finally {
    runner.release();
  }
}
