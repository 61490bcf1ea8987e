import { LogEvent, type Task } from "../protocol/index.ts";
import { awaitStartOfQueuedTurn } from "./await-start-of-queued-turn.ts";
import type { Clock } from "./clock.ts";
import {
  computeSubscriptionLogRange,
  createSingleEventSubscription,
  DeferredSubscription,
  hasTurnRequestedInput,
  isWaitingWithoutTurn,
  LogSubscription,
  type Subscription,
} from "./log-subscription.ts";
import type { TaskMessageAcceptResult, TurnAcceptResult } from "./message-accept-result.ts";
import type { RequestWaitLimit } from "./request-wait-limit.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import type { TaskStore } from "./task-store.ts";

/**
 * Waits until the accepted message is durable and resolves with the current task. With `untilStop`, resolves with the
 * task once the turn of the message has stopped.
 */
export async function awaitMessageCommitAndGetTask(
  accepted: TaskMessageAcceptResult,
  untilStop: boolean,
  requestWaitLimit: RequestWaitLimit,
): Promise<Task> {
  const { feed } = accepted;
  if (!("turn" in accepted)) {
    try {
      return feed.liveTask.getSnapshot();
    } finally {
      feed.release();
    }
  }
  const { turn, isQueued } = accepted;
  if (!isQueued) await awaitMessageSeq(accepted, requestWaitLimit);
  return untilStop ? await turn.stoppedTask.promise : feed.liveTask.getSnapshot();
}

/**
 * Waits until the turn of an accepted message begins. Resolves with false if the sender must receive the current task,
 * because the running turn waits for its user.
 */
export function awaitStartOfTurn(
  { feed, turn, isQueued }: TurnAcceptResult,
  clock: Clock,
): Promise<boolean> | true {
  return isQueued ? awaitStartOfQueuedTurn(feed, turn, clock) : true;
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
  { clock, requestWaitLimit }: { readonly clock: Clock; readonly requestWaitLimit: RequestWaitLimit },
): Promise<Subscription> {
  const create = (): Promise<Subscription> =>
    createMessageStream(accepted, service, releaseStream, store, requestWaitLimit);
  if (!("turn" in accepted) || !accepted.isQueued) return await create();
  const feed = accepted.feed.retain();
  const open = async (): Promise<Subscription> => {
    try {
      if (await awaitStartOfTurn(accepted, clock)) return await create();
      releaseStream();
      const { liveTask } = feed;
      return createSingleEventSubscription(LogEvent.create(liveTask.seq, { task: liveTask.getSnapshot() }));
    } finally {
      feed.release();
    }
  };
  return new DeferredSubscription(open(), releaseStream);
}

/** Resolves with the sequence number of a message. A queued message is durable before it has a sequence number. */
function awaitMessageSeq(
  { turn, isQueued }: TurnAcceptResult,
  requestWaitLimit: RequestWaitLimit,
): Promise<number> {
  const { promise } = turn.durableSeq;
  return isQueued ? promise : requestWaitLimit.wait(promise);
}

async function createMessageStream(
  accepted: TaskMessageAcceptResult,
  { resumeAfterSeq, includesMessages }: ServiceParameters,
  releaseStream: () => void,
  store: TaskStore,
  requestWaitLimit: RequestWaitLimit,
): Promise<Subscription> {
  const { feed } = accepted;
  // Retain the feed before the first commit, so that the tail keeps the committed events.
  if ("turn" in accepted) feed.retain();
  try {
    const seq = "turn" in accepted ? await awaitMessageSeq(accepted, requestWaitLimit) : accepted.seq;
    const span = computeSubscriptionLogRange(accepted, seq, resumeAfterSeq);
    const isStartOfTurn = "turn" in accepted && resumeAfterSeq === undefined;
    const hasStopped =
      isWaitingWithoutTurn(feed, span.afterSeq) ||
      (!isStartOfTurn && span.afterSeq > seq && (await hasTurnRequestedInput(feed, store, span)));
    if (!hasStopped) return new LogSubscription(feed, store, { ...span, includesMessages }, releaseStream);
    releaseStream();
    return createSingleEventSubscription(span.openingEvent);
  } finally {
    feed.release();
  }
}
