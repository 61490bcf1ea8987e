import type { Clock } from "./clock.ts";
import type { LogAppend, AppendRefusal, TaskStore } from "./task-store.ts";

/** A source of events to commit, for example the live task of a runner. */
export interface UncommittedEventSource {
  /**
   * Returns the next events to append, or `undefined` if the writer has no events. After `takePendingAppend`
   * returns an append, the committer does not call `takePendingAppend` again before `onCommitted` or
   * `onCommitFailed`.
   */
  takePendingAppend(): LogAppend | undefined;
  onCommitted(): void;
  /**
   * Called if the commit fails. A failed commit appends no events. After a failed commit, the writer decides
   * whether to enqueue itself again.
   */
  onCommitFailed(reason: AppendRefusal | Error): void;
}

const COMMIT_RETRY_DELAYS_MS = [50, 200, 800, 3200];
/** Shortest delay in milliseconds that requires a timer. A commit to memory takes about 0.001 ms. */
const MIN_COMMIT_TIMER_DELAY_MS = 0.1;

/**
 * Commits the events of all tasks in groups. All events that become ready in one turn of the event loop form
 * one store transaction. While a commit is in progress, new events form the next batch. A slow disk therefore
 * causes larger batches, but not longer queues. After a commit, non-urgent events (chunks) are delayed for as
 * long as the commit took. A stream therefore spends at most half of its time writing to disk. Urgent events
 * are committed immediately.
 */
export class Committer {
  readonly #store: TaskStore;
  readonly #clock: Clock;
  #readyWriters = new Set<UncommittedEventSource>();
  #isScheduled = false;
  #isUrgent = false;
  #workingAgents = 0;
  /** Earliest monotonic time in milliseconds for the next non-urgent commit. */
  #delayUntil = 0;
  #endDelay: (() => void) | undefined;

  constructor(store: TaskStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Schedules a commit of the writer's events. If `urgent` is true, the commit is not delayed. */
  enqueue(writer: UncommittedEventSource, urgent: boolean): void {
    this.#readyWriters.add(writer);
    this.#isUrgent ||= urgent;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#scheduleFlush();
    } else if (urgent) this.#endDelay?.();
  }

  /** Increments the number of running agents. */
  incrementWorkingAgents(): void {
    this.#workingAgents++;
  }

  decrementWorkingAgents(): void {
    this.#workingAgents--;
  }

  async #flush(): Promise<void> {
    this.#isUrgent = false;
    const writers: UncommittedEventSource[] = [];
    const batch: LogAppend[] = [];
    for (const writer of this.#readyWriters) {
      const append = takeAppendOrReportFailure(writer);
      if (!append) continue;
      writers.push(writer);
      batch.push(append);
    }
    this.#readyWriters = new Set();
    if (batch.length > 0) await this.#commitBatch(writers, batch);
    if (this.#readyWriters.size > 0) this.#scheduleFlush();
    else this.#isScheduled = false;
  }

  /**
   * Flushes the queued appends after the current turn of the event loop, so a burst of events becomes one
   * commit.
   */
  #scheduleFlush(): void {
    const delayMs = this.#isUrgent ? 0 : this.#delayUntil - this.#clock.monotonic();
    if (delayMs > MIN_COMMIT_TIMER_DELAY_MS) this.#delayFlush(delayMs);
    else setImmediate(() => void this.#flush());
  }

  #delayFlush(ms: number): void {
    const wake = (): void => {
      cancel();
      this.#endDelay = undefined;
      setImmediate(() => void this.#flush());
    };
    const cancel = this.#clock.schedule(ms, wake);
    this.#endDelay = wake;
  }

  async #commitBatch(writers: UncommittedEventSource[], batch: LogAppend[]): Promise<void> {
    let refusals: readonly (AppendRefusal | undefined)[];
    const startedAt = this.#clock.monotonic();
    try {
      refusals = await this.#store.commit(batch, { agentsAtWork: this.#workingAgents > 0 });
    } catch {
      // One task's events can make the batch fail. Retrying each append alone isolates that task from the
      // others.
      for (const [at, append] of batch.entries())
        void this.#commitSingleWithRetry(writers[at] as UncommittedEventSource, append);
      return;
    }
    const endedAt = this.#clock.monotonic();
    this.#delayUntil = endedAt + (endedAt - startedAt);
    for (let at = 0; at < writers.length; at++)
      notifyCommitOutcome(writers[at] as UncommittedEventSource, refusals[at]);
  }

  async #commitSingleWithRetry(writer: UncommittedEventSource, append: LogAppend): Promise<void> {
    let lastError: unknown;
    for (const delay of [0, ...COMMIT_RETRY_DELAYS_MS]) {
      if (delay > 0) await new Promise<void>((resolve) => this.#clock.schedule(delay, resolve));
      try {
        const [refusal] = await this.#store.commit([append]);
        notifyCommitOutcome(writer, refusal);
        return;
      } catch (error) {
        lastError = error;
      }
    }
    writer.onCommitFailed(toError(lastError));
  }
}

/**
 * Returns the writer's pending append. If one writer throws an error, the events of other writers are still
 * committed.
 */
function takeAppendOrReportFailure(writer: UncommittedEventSource): LogAppend | undefined {
  try {
    return writer.takePendingAppend();
  } catch (error) {
    writer.onCommitFailed(toError(error));
    return undefined;
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function notifyCommitOutcome(writer: UncommittedEventSource, refusal: AppendRefusal | undefined): void {
  if (refusal === undefined) writer.onCommitted();
  else writer.onCommitFailed(refusal);
}
