import type { LogEvent } from "../protocol/index.ts";
import type { Runner } from "./runner.ts";
import type { TaskStore } from "./store.ts";

/** A reader's place in a stream. Pulled: whoever does not pull costs nothing but this object (E5). */
export interface Subscription {
  /** The next events in order, at least one; undefined at the end. Rejects when the task can be followed no more. */
  next(): Promise<readonly LogEvent[] | undefined>;
  /** Ends the subscription, and nothing else (E2). Resolves a pending `next` with undefined. */
  close(): void;
  /** True when everything has been given; false at the end means that the stream was cut. */
  readonly complete: boolean;
}

/** Where a subscription begins and where it ends. */
export interface SubscriptionSpan {
  /** Only events behind this seq; they are the state that the reader knows. */
  readonly after: number;
  /** Given to the reader first: the task as it is at `after`. */
  readonly opening?: LogEvent;
  /** Ends at the first event that asks the user for input behind this seq; without it, at the task's end only. */
  readonly turn?: number;
}

/** How much is read from the store at a time when a reader has fallen behind. */
const PAGE = { events: 512, maxBytes: 256 * 1024 };

/**
 * Follows a task from a snapshot on: every later event exactly once, in order (E3). Events come from the runner's
 * shared tail, or from the store when the reader has fallen behind it; their numbers are all there is to keep.
 */
export class LogSubscription implements Subscription {
  readonly #runner: Runner;
  readonly #store: TaskStore;
  readonly #turn: number | undefined;
  readonly #onClose: () => void;
  #opening: LogEvent | undefined;
  #seq: number;
  #closed = false;
  #stopped = false;
  #wake: (() => void) | undefined;

  constructor(runner: Runner, store: TaskStore, span: SubscriptionSpan, onClose: () => void) {
    this.#runner = runner;
    this.#store = store;
    this.#turn = span.turn;
    this.#opening = span.opening;
    this.#seq = span.after;
    runner.hold();
    this.#onClose = onClose;
  }

  async next(): Promise<readonly LogEvent[] | undefined> {
    if (this.#opening) {
      const opening = [this.#opening];
      this.#opening = undefined;
      return opening;
    }
    for (;;) {
      if (this.#closed) return undefined;
      const { live } = this.#runner;
      if (this.#seq < live.seq) {
        const events = this.#upToStop(await this.#behind());
        if (events.length > 0) return events;
      } else if (live.endedAt(this.#seq)) {
        this.close();
      } else {
        await this.#changed();
      }
    }
  }

  get complete(): boolean {
    return this.#stopped || this.#runner.live.endedAt(this.#seq);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#runner.letGo();
    this.#onClose();
    this.#wake?.();
  }

  /** The next committed events behind this reader's place. */
  async #behind(): Promise<LogEvent[]> {
    const { live } = this.#runner;
    const events =
      live.tail.since(this.#seq) ?? (await this.#store.read(live.scope, live.taskId, this.#seq, PAGE));
    const last = events.at(-1);
    // The log has no gaps, so an empty page means that it was cut away (a bounded memory store).
    if (!last) this.close();
    else this.#seq = last.seq;
    return events;
  }

  /** What of `events` a reader is shown: what is on the wire, up to where the reader's turn stops. */
  #upToStop(events: LogEvent[]): LogEvent[] {
    const turn = this.#turn;
    const stop =
      turn === undefined ? -1 : events.findIndex((event) => event.seq > turn && asksForInput(event));
    if (stop < 0) return events.every(isShown) ? events : events.filter(isShown);
    this.#stopped = true;
    this.close();
    return events.slice(0, stop + 1).filter(isShown);
  }

  #changed(): Promise<void> {
    const changed = this.#runner.live.changed();
    return new Promise((resolve, reject) => {
      this.#wake = resolve;
      changed.then(resolve, reject);
    });
  }
}

/** A user's message is history; on the wire a stream of a task has only the task and its updates (A2A §3.1.2). */
function isShown({ event }: LogEvent): boolean {
  return !("message" in event);
}

/** INPUT_REQUIRED ends a turn's stream; AUTH_REQUIRED keeps it open, because the agent may go on by itself (A2A §7.6.1). */
function asksForInput({ event }: LogEvent): boolean {
  return "statusUpdate" in event && event.statusUpdate.status.state === "TASK_STATE_INPUT_REQUIRED";
}

/** True when the span's turn has asked for input already, at or before the place where the reader begins. */
export async function hasAsked(
  { live }: Runner,
  store: TaskStore,
  { turn = 0, after }: SubscriptionSpan,
): Promise<boolean> {
  let seq = turn;
  while (seq < after) {
    const events = await store.read(live.scope, live.taskId, seq, PAGE);
    if (events.some((event) => event.seq <= after && asksForInput(event))) return true;
    seq = events.at(-1)?.seq ?? after;
  }
  return false;
}

/** A stream of one event: an answer without a task, or the last thing to be said about one. */
export function streamOf(event: LogEvent | undefined): Subscription {
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
    get complete() {
      return given;
    },
  };
}
