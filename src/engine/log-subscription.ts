import { isInterrupted, LogEvent } from "../protocol/index.ts";
import { LOG_PAGE_LIMIT, readLog } from "./read-task-log.ts";
import type { TaskFeed } from "./task-feed.ts";
import type { TaskStore } from "./task-store.ts";

/**
 * A reader's position in a stream of events. Readers pull events, so an idle reader costs only one
 * subscription object (E5).
 */
export interface Subscription {
  /**
   * Resolves with the next events (at least one) in order, or with `undefined` at the end of the stream.
   * Rejects if the subscription can no longer read the events of the task.
   */
  next(): Promise<readonly LogEvent[] | undefined>;
  /**
   * Ends the subscription without affecting the task (E2). If `close` is called, a pending call to `next`
   * resolves with `undefined`. `interruption` states why the stream ends before its last event, for observers.
   */
  close(interruption?: StreamInterruption): void;
  /**
   * True if the reader has received every event. If `isComplete` is false at the end of the stream, the
   * stream was interrupted.
   */
  readonly isComplete: boolean;
}

/** The reason why a stream ended before its last event. */
export interface StreamInterruption {
  /**
   * `canceled` if the reader closed the stream, `stalled` if the server disconnected a reader that took no bytes, and
   * `cut` if the connection broke or the server closed the stream.
   */
  readonly reason: "cut" | "stalled" | "canceled";
  /** For example `ECONNRESET`. */
  readonly error?: string;
}

/** Start and end positions of a subscription. */
export interface SubscriptionLogRange {
  /**
   * Sequence number of the last event that the reader already has. The subscription delivers only events
   * after `afterSeq`.
   */
  readonly afterSeq: number;
  /** First event of the subscription, which contains the task at `afterSeq`. */
  readonly openingEvent?: LogEvent;
  /**
   * Sequence number of a turn's message. If `turnSeq` is set, the subscription ends at the first event
   * after `turnSeq` that requests user input, or as soon as the task waits for its user and no turn can
   * continue the task. By default, the subscription ends when the task ends.
   */
  readonly turnSeq?: number;
  /** True if the subscription also delivers the users' messages. Default: false. */
  readonly includesMessages?: boolean | undefined;
}

/**
 * Delivers every event after a snapshot exactly once and in order (E3). Events come from the task's shared
 * `TaskLogTail`, or from the store if the reader has fallen too far behind. The reader's only state is the
 * sequence number of its last event.
 */
export class LogSubscription implements Subscription {
  readonly #store: TaskStore;
  readonly #turnSeq: number | undefined;
  readonly #isDelivered: (event: LogEvent) => boolean;
  readonly #onClose: () => void;
  #feed: TaskFeed;
  #openingEvent: LogEvent | undefined;
  #readSeq: number;
  #isClosed = false;
  #hasStopped = false;
  #wakeReader: (() => void) | undefined;

  constructor(feed: TaskFeed, store: TaskStore, span: SubscriptionLogRange, onClose: () => void) {
    this.#feed = feed.retainForReader();
    this.#store = store;
    this.#turnSeq = span.turnSeq;
    this.#isDelivered = span.includesMessages ? () => true : isSentToReaders;
    this.#openingEvent = span.openingEvent;
    this.#readSeq = span.afterSeq;
    this.#onClose = onClose;
  }

  async next(): Promise<readonly LogEvent[] | undefined> {
    if (this.#openingEvent) {
      const opening = [this.#openingEvent];
      this.#openingEvent = undefined;
      return opening;
    }
    for (;;) {
      if (this.#isClosed) return undefined;
      const { liveTask, hasMoved } = this.#feed;
      if (this.#readSeq < liveTask.seq) {
        const events = this.#selectEventsUntilInputRequest(await this.#readNextEvents());
        if (events.length > 0) return events;
      } else if (liveTask.hasEndedAtSeq(this.#readSeq)) {
        this.close();
      } else if (hasMoved) {
        await this.#moveToCurrentFeed();
      } else if (this.#turnSeq !== undefined && isWaitingWithoutTurn(this.#feed, this.#readSeq)) {
        this.#hasStopped = true;
        this.close();
      } else {
        await this.#waitForCommit();
      }
    }
  }

  get isComplete(): boolean {
    return this.#hasStopped || this.#feed.liveTask.hasEndedAtSeq(this.#readSeq);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#feed.releaseReader();
    this.#onClose();
    this.#wakeReader?.();
  }

  /** Reads the next committed events. */
  async #readNextEvents(): Promise<LogEvent[]> {
    const { liveTask } = this.#feed;
    const events =
      liveTask.tail.findSince(this.#readSeq) ??
      (await this.#store.readEvents(liveTask.scope, liveTask.taskId, this.#readSeq, LOG_PAGE_LIMIT));
    const last = events.at(-1);
    if (!last) return this.#replaceDeletedEvents();
    this.#readSeq = last.seq;
    return events;
  }

  /**
   * Returns the current task in place of events that the store has deleted. An erased task has no current
   * state, so its subscription ends.
   */
  #replaceDeletedEvents(): LogEvent[] {
    const { liveTask } = this.#feed;
    if (liveTask.hasCommitFailed) {
      this.close();
      return [];
    }
    this.#readSeq = liveTask.seq;
    return [LogEvent.create(liveTask.seq, { task: liveTask.getSnapshot() })];
  }

  /** Selects the events to deliver, up to the end of the reader's turn. */
  #selectEventsUntilInputRequest(events: LogEvent[]): LogEvent[] {
    const turnSeq = this.#turnSeq;
    const stop =
      turnSeq === undefined
        ? -1
        : events.findIndex((event) => event.seq > turnSeq && isInputRequiredLogEvent(event));
    if (stop < 0) return events.every(this.#isDelivered) ? events : events.filter(this.#isDelivered);
    this.#hasStopped = true;
    this.close();
    return events.slice(0, stop + 1).filter(this.#isDelivered);
  }

  #waitForCommit(): Promise<void> {
    const feed = this.#feed;
    const commit = feed.liveTask.waitForCommitOrTurnChange();
    return new Promise((resolve, reject) => {
      this.#wakeReader = resolve;
      // If another node has taken over the task, its events continue in another feed.
      commit.then(resolve, (error: unknown) => (feed.hasMoved ? resolve() : reject(error)));
    });
  }

  /** Continues with the feed that publishes the later events of the task. */
  async #moveToCurrentFeed(): Promise<void> {
    const previous = this.#feed;
    const current = await previous.reopen();
    if (!current || this.#isClosed) {
      current?.release();
      this.close();
      return;
    }
    this.#feed = current.retainForReader();
    current.release();
    previous.releaseReader();
  }
}

/**
 * Returns false for user messages, which are part of the history and not of the response stream. A response
 * stream contains only the task and its updates (A2A §3.1.2).
 */
function isSentToReaders({ event }: LogEvent): boolean {
  return !("message" in event);
}

/**
 * Returns true if the reader has every event of a task that waits for its user, and no turn can continue the
 * task. The stream of a message then ends, because nothing follows without a new message.
 */
export function isWaitingWithoutTurn({ liveTask, hasUnfinishedTurn }: TaskFeed, readSeq: number): boolean {
  const { state } = liveTask;
  return !hasUnfinishedTurn && readSeq === liveTask.seq && state !== undefined && isInterrupted(state);
}

/**
 * Returns true for INPUT_REQUIRED, which ends the stream of a turn. AUTH_REQUIRED ends the stream only with
 * the turn, because the agent may continue without a new message (A2A §7.6.1).
 */
function isInputRequiredLogEvent({ event }: LogEvent): boolean {
  return "statusUpdate" in event && event.statusUpdate.status.state === "TASK_STATE_INPUT_REQUIRED";
}

/**
 * Resolves with true if the turn requested user input at or before the start position of the reader.
 */
export async function hasTurnRequestedInput(
  { liveTask }: TaskFeed,
  store: TaskStore,
  { turnSeq = 0, afterSeq }: SubscriptionLogRange,
): Promise<boolean> {
  for await (const event of readLog(store, liveTask, turnSeq, afterSeq))
    if (isInputRequiredLogEvent(event)) return true;
  return false;
}

/**
 * Creates a subscription that delivers one event. The event is a reply without a task, or the final state of
 * a task.
 */
export function createSingleEventSubscription(event: LogEvent | undefined): Subscription {
  let isDelivered = false;
  return {
    next() {
      const events = isDelivered || !event ? undefined : [event];
      isDelivered = true;
      return Promise.resolve(events);
    },
    close() {
      isDelivered = true;
    },
    get isComplete() {
      return isDelivered;
    },
  };
}
