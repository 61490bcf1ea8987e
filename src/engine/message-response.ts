import { LogEvent, type Task } from "../protocol/index.ts";
import { type Clock, waitAtMost } from "./clock.ts";
import {
  computeSubscriptionLogRange,
  createSingleEventSubscription,
  DeferredSubscription,
  isInputRequiredLogEvent,
  isWaitingWithoutTurn,
  LogSubscription,
  type Subscription,
} from "./log-subscription.ts";
import { hasLoggedEvent } from "./log-events.ts";
import type { TaskFeed, TaskMessageAcceptResult, TurnAcceptResult, TurnProgress } from "./task-feed.ts";
import type { RequestWaitLimit } from "./store-health.ts";
import type { ServiceParameters } from "./caller.ts";
import type { TaskStore } from "./task-store.ts";

/**
 * Time in milliseconds for which a running turn may wait for its user, before the senders of queued messages
 * receive the current task. Most agents end their turn within this time after they have asked their user.
 */
export const WAIT_WITHIN_TURN_MS = 1000;

/** Dependencies of the responses to messages. */
interface ResponseDependencies {
  readonly clock: Clock;
  readonly requestWaitLimit: RequestWaitLimit;
}

/**
 * Waits until the accepted message is durable and resolves with the current task. With `untilStop`, resolves with the
 * task once the turn of the message has stopped, or once the running turn before it waits for its user.
 */
export async function awaitTaskOfMessage(
  accepted: TaskMessageAcceptResult,
  untilStop: boolean,
  { clock, requestWaitLimit }: ResponseDependencies,
): Promise<Task> {
  const { feed } = accepted;
  if (!("turn" in accepted)) {
    try {
      return feed.getSnapshot();
    } finally {
      feed.release();
    }
  }
  const { turn, isQueued } = accepted;
  if (isQueued) {
    const mustWait = untilStop && (await awaitStartOfQueuedTurn(feed, turn, clock));
    return mustWait ? await turn.stoppedTask.promise : feed.getSnapshot();
  }
  // A turn whose message cannot be stored also ends with an error.
  if (!untilStop || requestWaitLimit.isNeeded) await awaitMessageSeq(accepted, requestWaitLimit);
  return untilStop ? await turn.stoppedTask.promise : feed.getSnapshot();
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
  { clock, requestWaitLimit }: ResponseDependencies,
): Promise<Subscription> {
  const create = (): Promise<Subscription> =>
    createMessageStream(accepted, service, releaseStream, store, requestWaitLimit);
  if (!("turn" in accepted) || !accepted.isQueued) return await create();
  const feed = accepted.feed.retain();
  const open = async (): Promise<Subscription> => {
    try {
      if (await awaitStartOfQueuedTurn(feed, accepted.turn, clock)) return await create();
      releaseStream();
      return createSingleEventSubscription(LogEvent.create(feed.seq, { task: feed.getSnapshot() }));
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
      (!isStartOfTurn && (await hasLoggedEvent(store, feed, seq, span.afterSeq, isInputRequiredLogEvent)));
    if (!hasStopped) return new LogSubscription(feed, store, { ...span, includesMessages }, releaseStream);
    releaseStream();
    return createSingleEventSubscription(span.openingEvent);
  } finally {
    feed.release();
  }
}

/**
 * Waits until a queued turn begins and resolves with true. Resolves with false if the running turn waits for
 * its user for `WAIT_WITHIN_TURN_MS`, because a turn may then wait without limit. Rejects if the queued turn
 * cannot begin.
 */
async function awaitStartOfQueuedTurn(feed: TaskFeed, turn: TurnProgress, clock: Clock): Promise<boolean> {
  let waitEndsAt: number | undefined;
  for (;;) {
    if (turn.hasBegun) return true;
    // A turn that ends before it begins rejects `durableSeq`.
    if (turn.hasEnded) await turn.durableSeq.promise;
    const change = feed.waitForCommitOrTurnChange();
    if (!feed.isWaitingWithinTurn) {
      waitEndsAt = undefined;
      await change;
      continue;
    }
    waitEndsAt ??= clock.monotonic() + WAIT_WITHIN_TURN_MS;
    const remainingMs = waitEndsAt - clock.monotonic();
    if (remainingMs <= 0) return false;
    await waitAtMost(change, remainingMs, clock);
  }
}

/**
 * Returns the task with at most `length` of its most recent messages. A `length` of 0 omits the history,
 * and `undefined` keeps all messages (A2A §3.2.4).
 */
export function limitHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || !task.history) return task;
  const { history, ...rest } = task;
  return length === 0 ? rest : { ...rest, history: history.slice(-length) };
}
