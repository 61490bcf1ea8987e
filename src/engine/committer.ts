import type { Clock } from "./clock.ts";
import type { LogAppend, AppendRefusal, TaskStore } from "./task-store.ts";

/** Somebody with events to commit: a runner. */
export interface LogWriter {
  /** What is to be appended now; undefined when nothing is. Not asked again before `onCommitted` or `onCommitFailed`. */
  takeAppend(): LogAppend | undefined;
  onCommitted(): void;
  /** Nothing was appended. The writer decides whether to come again. */
  onCommitFailed(why: AppendRefusal | Error): void;
}

const RETRY_DELAYS_MS = [50, 200, 800, 3200];
/** A rest that is not worth a timer; a commit to memory takes a hundredth of it. */
const MIN_DELAY_MS = 0.1;

/**
 * Group commit: all that became ready in one turn of the event loop, from all tasks, is one transaction of the store.
 * While one is under way the next gathers, so that a slow disk makes larger batches, not longer queues. Events that
 * nobody waits for (chunks) rest after a commit for as long as that took, so that a stream spends at most half of its
 * time on the disk; all others go at once.
 */
export class Committer {
  readonly #store: TaskStore;
  readonly #clock: Clock;
  #readyWriters = new Set<LogWriter>();
  #isScheduled = false;
  #isUrgent = false;
  #workingAgents = 0;
  /** When a commit may begin that is not urgent, by the clock's monotonic time. */
  #delayUntil = 0;
  /** Ends the rest that is under way. */
  #endDelay: (() => void) | undefined;

  constructor(store: TaskStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Has the writer's events committed soon; `urgent`: without a rest. */
  enqueue(writer: LogWriter, urgent: boolean): void {
    this.#readyWriters.add(writer);
    this.#isUrgent ||= urgent;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#scheduleFlush();
    } else if (urgent) this.#endDelay?.();
  }

  /** An agent begins to work. */
  incrementWorkingAgents(): void {
    this.#workingAgents++;
  }

  decrementWorkingAgents(): void {
    this.#workingAgents--;
  }

  async #flush(): Promise<void> {
    this.#isUrgent = false;
    const writers: LogWriter[] = [];
    const batch: LogAppend[] = [];
    for (const writer of this.#readyWriters) {
      const append = tryTakeAppend(writer);
      if (!append) continue;
      writers.push(writer);
      batch.push(append);
    }
    this.#readyWriters = new Set();
    if (batch.length > 0) await this.#commitBatch(writers, batch);
    if (this.#readyWriters.size > 0) this.#scheduleFlush();
    else this.#isScheduled = false;
  }

  /** After all that this turn of the event loop brings, so that a burst becomes one commit. */
  #scheduleFlush(): void {
    const rest = this.#isUrgent ? 0 : this.#delayUntil - this.#clock.monotonic();
    if (rest > MIN_DELAY_MS) this.#delayFlush(rest);
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

  async #commitBatch(writers: LogWriter[], batch: LogAppend[]): Promise<void> {
    let refusals: readonly (AppendRefusal | undefined)[];
    const began = this.#clock.monotonic();
    try {
      refusals = await this.#store.commit(batch, { agentsAtWork: this.#workingAgents > 0 });
    } catch {
      // One task's events may be what the store chokes on: none may suffer for another, nor wait for its next try.
      for (const [at, append] of batch.entries())
        void this.#commitSingleWithRetry(writers[at] as LogWriter, append);
      return;
    }
    const ended = this.#clock.monotonic();
    this.#delayUntil = ended + (ended - began);
    for (let at = 0; at < writers.length; at++) notifyWriter(writers[at] as LogWriter, refusals[at]);
  }

  async #commitSingleWithRetry(writer: LogWriter, append: LogAppend): Promise<void> {
    let last: unknown;
    for (const pause of [0, ...RETRY_DELAYS_MS]) {
      if (pause > 0) await new Promise<void>((resolve) => this.#clock.schedule(pause, resolve));
      try {
        const [refusal] = await this.#store.commit([append]);
        notifyWriter(writer, refusal);
        return;
      } catch (error) {
        last = error;
      }
    }
    writer.onCommitFailed(toError(last));
  }
}

/** What a writer has; one that can not say it has nothing, and no other writer suffers for it. */
function tryTakeAppend(writer: LogWriter): LogAppend | undefined {
  try {
    return writer.takeAppend();
  } catch (error) {
    writer.onCommitFailed(toError(error));
    return undefined;
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function notifyWriter(writer: LogWriter, refusal: AppendRefusal | undefined): void {
  if (refusal === undefined) writer.onCommitted();
  else writer.onCommitFailed(refusal);
}
