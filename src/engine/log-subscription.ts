import {
  A2AError,
  copyTask,
  fold,
  isEventRefusal,
  isInterrupted,
  LogEvent,
  type Task,
} from "../protocol/index.ts";
import type { TaskFeed, TaskMessageAcceptResult } from "./task-feed.ts";
import { LOG_PAGE_LIMIT } from "./log-events.ts";
import type { TaskStore } from "./task-store.ts";
import type { TurnStartPoint } from "./turn.ts";

/** The next events of a subscription, or `undefined` at its end. */
export type NextEvents = readonly LogEvent[] | undefined;

/**
 * A reader's position in a stream of events. Readers pull events, so an idle reader costs only one
 * subscription object (E5).
 */
export interface Subscription {
  /**
   * Returns the next events (at least one) in order, or `undefined` at the end of the stream. Returns a promise if the
   * next events are not in memory. The promise rejects if the subscription can no longer read the events of the task.
   */
  next(): NextEvents | Promise<NextEvents>;
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
interface SubscriptionLogRange {
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

/** The reader has every committed event, and waits for a change of the task. */
const MUST_WAIT = "must wait";

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

  next(): NextEvents | Promise<NextEvents> {
    const opening = this.#openingEvent;
    if (!opening) return this.#readNext();
    this.#openingEvent = undefined;
    // The events that are already committed follow in the same write.
    return [opening, ...(this.#takeTailEvents() ?? [])];
  }

  get isComplete(): boolean {
    return this.#hasStopped || this.#feed.hasEndedAtSeq(this.#readSeq);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#feed.releaseReader();
    this.#onClose();
    this.#wakeReader?.();
  }

  /** Returns the next events without a promise if they are in memory, because a promise costs as much as an event. */
  #readNext(): NextEvents | Promise<NextEvents> {
    const events = this.#readNow();
    return events === MUST_WAIT ? this.#waitForEvents() : events;
  }

  #readNow(): NextEvents | Promise<NextEvents> | typeof MUST_WAIT {
    for (;;) {
      if (this.#isClosed) return undefined;
      const feed = this.#feed;
      if (this.#readSeq < feed.seq) {
        const events = this.#takeTailEvents();
        if (!events) return this.#readFromStore();
        if (events.length > 0) return events;
      } else if (feed.hasEndedAtSeq(this.#readSeq)) {
        this.close();
      } else if (feed.hasMoved) {
        return MUST_WAIT;
      } else if (this.#turnSeq !== undefined && isWaitingWithoutTurn(feed, this.#readSeq)) {
        this.#hasStopped = true;
        this.close();
      } else {
        return MUST_WAIT;
      }
    }
  }

  /** Waits in a loop, because a chain of promises would grow with each commit that has no event for the reader. */
  async #waitForEvents(): Promise<NextEvents> {
    for (;;) {
      await (this.#feed.hasMoved ? this.#moveToCurrentFeed() : this.#waitForChange());
      const events = this.#readNow();
      if (events !== MUST_WAIT) return await events;
    }
  }

  /** Returns the committed events in the shared tail, or `undefined` if the tail no longer contains all of them. */
  #takeTailEvents(): LogEvent[] | undefined {
    const events = this.#feed.tail.findSince(this.#readSeq);
    const last = events?.at(-1);
    if (!events || !last) return undefined;
    this.#readSeq = last.seq;
    return this.#selectEventsUntilInputRequest(events);
  }

  async #readFromStore(): Promise<NextEvents> {
    const { scope, taskId } = this.#feed;
    const events = await this.#store.readEvents(scope, taskId, this.#readSeq, LOG_PAGE_LIMIT);
    const last = events.at(-1);
    if (last) this.#readSeq = last.seq;
    const selected = this.#selectEventsUntilInputRequest(last ? events : this.#replaceDeletedEvents());
    return selected.length > 0 ? selected : await this.#readNext();
  }

  /**
   * Returns the current task in place of events that the store has deleted. An erased task has no current
   * state, so its subscription ends.
   */
  #replaceDeletedEvents(): LogEvent[] {
    const feed = this.#feed;
    if (feed.hasCommitFailed) {
      this.close();
      return [];
    }
    this.#readSeq = feed.seq;
    return [LogEvent.create(feed.seq, { task: feed.getSnapshot() })];
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

  #waitForChange(): Promise<void> {
    const feed = this.#feed;
    const commit = feed.waitForCommitOrTurnChange();
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
export function isWaitingWithoutTurn({ hasUnfinishedTurn, seq, state }: TaskFeed, readSeq: number): boolean {
  return !hasUnfinishedTurn && readSeq === seq && state !== undefined && isInterrupted(state);
}

/**
 * Returns true for INPUT_REQUIRED, which ends the stream of a turn. AUTH_REQUIRED ends the stream only with
 * the turn, because the agent may continue without a new message (A2A §7.6.1).
 */
export function isInputRequiredLogEvent({ event }: LogEvent): boolean {
  return "statusUpdate" in event && event.statusUpdate.status.state === "TASK_STATE_INPUT_REQUIRED";
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
      return events;
    },
    close() {
      isDelivered = true;
    },
    get isComplete() {
      return isDelivered;
    },
  };
}

/** A subscription that begins once another subscription is available. */
export class DeferredSubscription implements Subscription {
  readonly #inner: Promise<Subscription | undefined>;
  readonly #onClose: () => void;
  #opened: Subscription | undefined;
  #isClosed = false;
  #wakeReader: () => void = () => {};

  /** `onClose` is called if the subscription ends before `opening` resolves with a subscription. */
  constructor(opening: Promise<Subscription>, onClose: () => void) {
    this.#onClose = onClose;
    const closed = new Promise<undefined>((resolve) => {
      this.#wakeReader = () => resolve(undefined);
    });
    const opened = opening.then(
      (inner) => {
        this.#opened = inner;
        if (this.#isClosed) inner.close();
        return inner;
      },
      (error: unknown) => {
        onClose();
        throw error;
      },
    );
    this.#inner = Promise.race([opened, closed]);
    // The reader receives the error. Without a reader, the error is ignored.
    this.#inner.catch(() => {});
    opened.catch(() => {});
  }

  next(): NextEvents | Promise<NextEvents> {
    return this.#opened ? this.#opened.next() : this.#inner.then((inner) => inner?.next());
  }

  get isComplete(): boolean {
    return this.#opened?.isComplete ?? false;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#opened) this.#opened.close();
    else this.#onClose();
    this.#wakeReader();
  }
}

/**
 * Returns the start and end positions of the response stream for a message. A resumed stream starts after the
 * last event that the client received. Any other stream starts with the task at the start of the message's
 * turn, without the artifacts of earlier turns. If the message answers a question, the stream starts after the
 * task has changed to WORKING, because clients treat an interrupted task as a new question.
 */
export function computeSubscriptionLogRange(
  accepted: TaskMessageAcceptResult,
  seq: number,
  resumeAfterSeq: number | undefined,
): SubscriptionLogRange {
  const { feed } = accepted;
  if (resumeAfterSeq !== undefined)
    return { afterSeq: requireResumeSeq(feed.seq, resumeAfterSeq), turnSeq: seq };
  // The first turn covers the entire log, which starts with the task's creation.
  if (seq === 1) return { afterSeq: 0, turnSeq: seq };
  const startPoint = "turn" in accepted ? accepted.turn.startPoint : undefined;
  const { seq: afterSeq, task } = startPoint
    ? toWorkingStartPoint(startPoint)
    : { seq: feed.seq, task: feed.getSnapshot() };
  const openingTask = startPoint ? withoutArtifacts(task) : task;
  return { afterSeq, openingEvent: LogEvent.create(afterSeq, { task: openingTask }), turnSeq: seq };
}

/**
 * Removes the artifacts of earlier turns. Clients treat every artifact of a response stream as part of the
 * answer, and the servers of the official SDKs send no earlier artifacts in such a stream.
 */
function withoutArtifacts(task: Task): Task {
  const { artifacts: _, ...rest } = task;
  return rest;
}

/** Applies the event that changes the task at the start point to WORKING. */
function toWorkingStartPoint(startPoint: TurnStartPoint): TurnStartPoint {
  const { task, seq, workingEvent } = startPoint;
  const working = workingEvent && fold(copyTask(task), workingEvent);
  return working && !isEventRefusal(working) ? { task: working, seq: seq + 1 } : startPoint;
}

/** Returns `resumeAfterSeq`, or throws `INVALID_PARAMS` if the log does not contain `resumeAfterSeq`. */
export function requireResumeSeq(lastSeq: number, resumeAfterSeq: number): number {
  if (resumeAfterSeq <= lastSeq) return resumeAfterSeq;
  const description = `${resumeAfterSeq} is greater than the number of the task's last event, ${lastSeq}; subscribe without it`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}
