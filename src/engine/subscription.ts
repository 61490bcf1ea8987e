import type { LogEvent } from "../protocol/index.ts";
import type { Runner } from "./runner.ts";
import type { TaskStore } from "./task-store.ts";

/** A reader's place in a stream. Pulled: whoever does not pull costs nothing but this object (E5). */
export interface Subscription {
  /** The next events in order, at least one; undefined at the end. Rejects when the task can be followed no more. */
  next(): Promise<readonly LogEvent[] | undefined>;
  /** Ends the subscription, and nothing else (E2). Resolves a pending `next` with undefined. */
  close(): void;
  /** True when everything has been given; false at the end means that the stream was cut. */
  readonly isComplete: boolean;
}

/** Where a subscription begins and where it ends. */
export interface SubscriptionSpan {
  /** Only events behind this seq; they are the state that the reader knows. */
  readonly afterSeq: number;
  /** Given to the reader first: the task as it is at `afterSeq`. */
  readonly openingEvent?: LogEvent;
  /** Ends at the first event that asks the user for input behind this seq; without it, at the task's end only. */
  readonly turnSeq?: number;
}

/** How much is read from the store at a time when a reader has fallen behind. */
const PAGE_LIMIT = { events: 512, maxBytes: 256 * 1024 };

/**
 * Follows a task from a snapshot on: every later event exactly once, in order (E3). Events come from the runner's
 * shared tail, or from the store when the reader has fallen behind it; their numbers are all there is to keep.
 */
export class LogSubscription implements Subscription {
  readonly #runner: Runner;
  readonly #store: TaskStore;
  readonly #turnSeq: number | undefined;
  readonly #onClose: () => void;
  #openingEvent: LogEvent | undefined;
  #readSeq: number;
  #isClosed = false;
  #hasStopped = false;
  #wakeReader: (() => void) | undefined;

  constructor(runner: Runner, store: TaskStore, span: SubscriptionSpan, onClose: () => void) {
    this.#runner = runner;
    this.#store = store;
    this.#turnSeq = span.turnSeq;
    this.#openingEvent = span.openingEvent;
    this.#readSeq = span.afterSeq;
    runner.retain();
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
      const { liveTask: live } = this.#runner;
      if (this.#readSeq < live.seq) {
        const events = this.#cutAtStop(await this.#readNextEvents());
        if (events.length > 0) return events;
      } else if (live.hasEndedAt(this.#readSeq)) {
        this.close();
      } else {
        await this.#waitForCommit();
      }
    }
  }

  get isComplete(): boolean {
    return this.#hasStopped || this.#runner.liveTask.hasEndedAt(this.#readSeq);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#runner.release();
    this.#onClose();
    this.#wakeReader?.();
  }

  /** The next committed events behind this reader's place. */
  async #readNextEvents(): Promise<LogEvent[]> {
    const { liveTask: live } = this.#runner;
    const events =
      live.tail.findSince(this.#readSeq) ??
      (await this.#store.readEvents(live.scope, live.taskId, this.#readSeq, PAGE_LIMIT));
    const last = events.at(-1);
    // The log has no gaps, so an empty page means that it was cut away (a bounded memory store).
    if (!last) this.close();
    else this.#readSeq = last.seq;
    return events;
  }

  /** What of `events` a reader is shown: what is on the wire, up to where the reader's turn stops. */
  #cutAtStop(events: LogEvent[]): LogEvent[] {
    const turn = this.#turnSeq;
    const stop =
      turn === undefined ? -1 : events.findIndex((event) => event.seq > turn && isInputRequest(event));
    if (stop < 0) return events.every(isSentToReaders) ? events : events.filter(isSentToReaders);
    this.#hasStopped = true;
    this.close();
    return events.slice(0, stop + 1).filter(isSentToReaders);
  }

  #waitForCommit(): Promise<void> {
    const changed = this.#runner.liveTask.waitForCommit();
    return new Promise((resolve, reject) => {
      this.#wakeReader = resolve;
      changed.then(resolve, reject);
    });
  }
}

/** A user's message is history; on the wire a stream of a task has only the task and its updates (A2A §3.1.2). */
function isSentToReaders({ event }: LogEvent): boolean {
  return !("message" in event);
}

/** INPUT_REQUIRED ends a turn's stream; AUTH_REQUIRED keeps it open, because the agent may go on by itself (A2A §7.6.1). */
function isInputRequest({ event }: LogEvent): boolean {
  return "statusUpdate" in event && event.statusUpdate.status.state === "TASK_STATE_INPUT_REQUIRED";
}

/** True when the span's turn has asked for input already, at or before the place where the reader begins. */
export async function hasRequestedInput(
  { liveTask: live }: Runner,
  store: TaskStore,
  { turnSeq: turn = 0, afterSeq: after }: SubscriptionSpan,
): Promise<boolean> {
  let seq = turn;
  while (seq < after) {
    const events = await store.readEvents(live.scope, live.taskId, seq, PAGE_LIMIT);
    if (events.some((event) => event.seq <= after && isInputRequest(event))) return true;
    seq = events.at(-1)?.seq ?? after;
  }
  return false;
}

/** A stream of one event: an answer without a task, or the last thing to be said about one. */
export function createSingleEventSubscription(event: LogEvent | undefined): Subscription {
  let given = false;
  return {
    next() {
      const events = given || !event ? undefined : [event];
      given = true;
      return Promise.resolve(events);
    },
    close() {
      given = true;
    },
    get isComplete() {
      return given;
    },
  };
}
