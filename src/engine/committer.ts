import type { Clock } from "./clock.ts";
import { type Observer, withSafeListeners } from "./observer.ts";
import type { AppendRefusal, LogAppend, TaskStore } from "./task-store.ts";

/**
 * A source of events to commit, for example an active task. An error that a method throws does not reach the
 * other writers of the batch. The committer reports the error to `onCommitFailed` of the same writer.
 */
export interface CommitWriter {
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

/** An append, and the writer that waits for its commit. */
interface UncommittedAppend {
  readonly writer: CommitWriter;
  readonly append: LogAppend;
  /** True if an earlier attempt to commit has failed. The store may nevertheless contain the append. */
  isRetry: boolean;
  /** Monotonic time in milliseconds after which the append no longer waits for a failed store. */
  waitsUntil?: number;
}

const COMMIT_RETRY_DELAYS_MS = [50, 200, 800, 3200];
/**
 * Maximum time in milliseconds that the creation of a task waits for an unhealthy store. After this time, the
 * sender of the message receives `UNAVAILABLE`.
 */
const MAX_NEW_TASK_WAIT_MS = 1_000;
/**
 * Maximum time in milliseconds that the events of an existing task wait for an unhealthy store. If the fault is
 * over in time, the task continues without a loss. Until then, the agent waits as soon as its buffer is full.
 */
const MAX_EXISTING_TASK_WAIT_MS = 60_000;
/** Number of commits whose median duration determines the delay of the next commit. */
const RECENT_COMMITS = 5;
/** Delay of a store that several nodes share, as a part of the median duration. */
const SHARED_STORE_DELAY = 0.5;
/** Shortest delay in milliseconds that requires a timer. A commit to memory takes about 0.001 ms. */
const MIN_COMMIT_TIMER_DELAY_MS = 0.1;

/**
 * Commits the events of all tasks in groups. All events that become ready in one turn of the event loop form
 * one store transaction. While a commit is in progress, new events form the next batch. A slow disk therefore
 * causes larger batches, but not longer queues. After a commit, non-urgent events (chunks) are delayed for the time that
 * commits usually take, or for half of this time if another process writes to the disk. A stream therefore spends at
 * most half or two thirds of its time writing. Urgent events are committed immediately.
 */
export class Committer {
  readonly #store: TaskStore;
  /** True if several processes write to the store. */
  readonly #isStoreShared: boolean;
  readonly #clock: Clock;
  readonly #observer: Pick<Observer, "onCommit" | "onError">;
  #readyWriters = new Set<CommitWriter>();
  /** Appends that wait until the store can commit again, with the functions that end their waits. */
  readonly #waitingAppends = new Map<UncommittedAppend, () => void>();
  /** Appends to commit again, because the store can commit again. */
  #retriedAppends: UncommittedAppend[] = [];
  #maxWaitMs = Infinity;
  #isScheduled = false;
  #isUrgent = false;
  #workingAgents = 0;
  /** Durations of the last commits in milliseconds. */
  readonly #recentCommitMs: number[] = [];
  /** Monotonic time in milliseconds of the end of the last commit. */
  #lastCommitEndedAt = 0;
  #endDelay: (() => void) | undefined;

  constructor(store: TaskStore, clock: Clock, observer: Pick<Observer, "onCommit" | "onError"> = {}) {
    this.#store = store;
    this.#isStoreShared = store.turns?.waitingTurnPollMs !== undefined;
    this.#clock = clock;
    this.#observer = withSafeListeners(observer);
    store.health?.onChange(({ state }) => {
      if (state === "healthy") this.#retryWaitingAppends();
    });
  }

  /** Schedules a commit of the writer's events. If `urgent` is true, the commit is not delayed. */
  enqueue(writer: CommitWriter, urgent: boolean): void {
    this.#readyWriters.add(writer);
    this.#isUrgent ||= urgent;
    this.#requestFlush(urgent);
  }

  #requestFlush(urgent: boolean): void {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#scheduleFlush();
    } else if (urgent) this.#endDelay?.();
  }

  /** Limits the time that appends wait for a failed store, because the server is closing. */
  limitStoreWait(maxWaitMs: number): void {
    this.#maxWaitMs = maxWaitMs;
    const waitsUntil = this.#clock.monotonic() + maxWaitMs;
    for (const [waiting, endWait] of Array.from(this.#waitingAppends)) {
      endWait();
      this.#waitForHealthyStore({
        ...waiting,
        waitsUntil: Math.min(waiting.waitsUntil ?? waitsUntil, waitsUntil),
      });
    }
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
    const batch = this.#retriedAppends;
    this.#retriedAppends = [];
    for (const writer of this.#readyWriters) {
      const append = this.#takeAppend(writer);
      if (append) batch.push({ writer, append, isRetry: false });
    }
    this.#readyWriters = new Set();
    try {
      if (this.#isStoreUnhealthy) for (const waiting of batch) this.#waitForHealthyStore(waiting);
      else if (batch.length > 0) await this.#commitBatch(batch);
    } catch (error) {
      // For example, a custom store has not returned the outcomes.
      for (const { writer } of batch) this.#failWriter(writer, toError(error));
    }
    if (this.#readyWriters.size > 0 || this.#retriedAppends.length > 0) this.#scheduleFlush();
    else this.#isScheduled = false;
  }

  /** Returns the writer's pending append. */
  #takeAppend(writer: CommitWriter): LogAppend | undefined {
    try {
      return writer.takePendingAppend();
    } catch (error) {
      this.#failWriter(writer, toError(error));
      return undefined;
    }
  }

  #notifyCommitted(writer: CommitWriter): void {
    try {
      writer.onCommitted();
    } catch (error) {
      this.#failWriter(writer, toError(error));
    }
  }

  #failWriter(writer: CommitWriter, reason: AppendRefusal | Error): void {
    try {
      writer.onCommitFailed(reason);
    } catch (error) {
      this.#observer.onError?.({ where: "commit", error });
    }
  }

  /**
   * Flushes the queued appends after the current turn of the event loop, so a burst of events becomes one
   * commit.
   */
  #scheduleFlush(): void {
    const delayMs = this.#isUrgent
      ? 0
      : this.#lastCommitEndedAt + this.#computeDelayMs() - this.#clock.monotonic();
    if (delayMs > MIN_COMMIT_TIMER_DELAY_MS) this.#delayFlush(delayMs);
    else this.#clock.scheduleTurn(() => void this.#flush());
  }

  #delayFlush(ms: number): void {
    const wake = (): void => {
      cancel();
      this.#endDelay = undefined;
      this.#clock.scheduleTurn(() => void this.#flush());
    };
    const cancel = this.#clock.schedule(ms, wake);
    this.#endDelay = wake;
  }

  async #commitBatch(batch: readonly UncommittedAppend[]): Promise<void> {
    let refusals: readonly (AppendRefusal | undefined)[];
    const startedAt = this.#clock.monotonic();
    try {
      const appends = batch.map(({ append }) => append);
      refusals = await this.#store.commit(appends, { agentsAtWork: this.#workingAgents > 0 });
    } catch (error) {
      this.#reportCommit(batch, startedAt, error);
      // One task's events can make the batch fail. Retrying each append alone isolates that task from the
      // others.
      for (const uncommitted of batch) {
        uncommitted.isRetry = true;
        if (this.#isStoreUnhealthy) this.#waitForHealthyStore(uncommitted);
        else void this.#commitSingleWithRetry(uncommitted);
      }
      return;
    }
    const endedAt = this.#clock.monotonic();
    this.#reportCommit(batch, startedAt);
    this.#lastCommitEndedAt = endedAt;
    this.#recentCommitMs.push(endedAt - startedAt);
    if (this.#recentCommitMs.length > RECENT_COMMITS) this.#recentCommitMs.shift();
    for (const [at, uncommitted] of batch.entries()) this.#notifyCommitOutcome(uncommitted, refusals[at]);
  }

  /** Returns the delay after a commit. A single slow commit does not delay the events after it even further. */
  #computeDelayMs(): number {
    const sorted = this.#recentCommitMs.toSorted((a, b) => a - b);
    return (sorted[sorted.length >> 1] ?? 0) * (this.#isStoreShared ? SHARED_STORE_DELAY : 1);
  }

  #reportCommit(batch: readonly UncommittedAppend[], startedAt: number, error?: unknown): void {
    if (!this.#observer.onCommit) return;
    const events = batch.reduce((count, { append }) => count + append.events.length, 0);
    const durationMs = this.#clock.monotonic() - startedAt;
    this.#observer.onCommit({ events, durationMs, ...(error === undefined ? {} : { error }) });
  }

  async #commitSingleWithRetry(uncommitted: UncommittedAppend): Promise<void> {
    let lastError: unknown;
    for (const delay of [0, ...COMMIT_RETRY_DELAYS_MS]) {
      if (delay > 0) await new Promise<void>((resolve) => this.#clock.schedule(delay, resolve));
      try {
        const [refusal] = await this.#store.commit([uncommitted.append]);
        this.#notifyCommitOutcome(uncommitted, refusal);
        return;
      } catch (error) {
        lastError = error;
      }
      if (this.#isStoreUnhealthy) return this.#waitForHealthyStore(uncommitted);
    }
    this.#failWriter(uncommitted.writer, toError(lastError));
  }

  get #isStoreUnhealthy(): boolean {
    return this.#store.health !== undefined && this.#store.health.state !== "healthy";
  }

  /** Commits the append again once the store is healthy, or reports the failure after a time limit. */
  #waitForHealthyStore(uncommitted: UncommittedAppend): void {
    const { append, writer, isRetry } = uncommitted;
    // After a failed sync, the task may already exist.
    const mayExist = append.expectedSeq > 0 || (isRetry && this.#store.health?.state === "failed");
    const limitMs = mayExist ? MAX_EXISTING_TASK_WAIT_MS : MAX_NEW_TASK_WAIT_MS;
    const maxWaitMs = Math.min(this.#maxWaitMs, limitMs);
    const now = this.#clock.monotonic();
    const waitsUntil = uncommitted.waitsUntil ?? now + maxWaitMs;
    const waiting = { ...uncommitted, waitsUntil };
    const cancelTimer = this.#clock.schedule(Math.max(0, waitsUntil - now), () => {
      this.#waitingAppends.delete(waiting);
      this.#failWriter(writer, new Error(`The store is ${this.#store.health?.state}.`));
    });
    this.#waitingAppends.set(waiting, () => {
      cancelTimer();
      this.#waitingAppends.delete(waiting);
    });
  }

  #retryWaitingAppends(): void {
    for (const [waiting, endWait] of this.#waitingAppends) {
      endWait();
      this.#retriedAppends.push(waiting);
    }
    if (this.#retriedAppends.length === 0) return;
    this.#isUrgent = true;
    this.#requestFlush(true);
  }

  #notifyCommitOutcome(uncommitted: UncommittedAppend, refusal: AppendRefusal | undefined): void {
    const { writer, isRetry } = uncommitted;
    if (refusal === undefined) this.#notifyCommitted(writer);
    else if (isRetry) void this.#notifyRefusedRetry(uncommitted, refusal);
    else this.#failWriter(writer, refusal);
  }

  /** A refused retry is a success if an earlier attempt, whose outcome was unknown, has stored the append. */
  async #notifyRefusedRetry(uncommitted: UncommittedAppend, refusal: AppendRefusal): Promise<void> {
    const { writer, append } = uncommitted;
    try {
      if (await isAppendStored(this.#store, append)) this.#notifyCommitted(writer);
      else this.#failWriter(writer, refusal);
    } catch (error) {
      if (this.#isStoreUnhealthy) this.#waitForHealthyStore(uncommitted);
      else this.#failWriter(writer, toError(error));
    }
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/**
 * Resolves with true if the store contains exactly the events of the append, or its queued turns if the append
 * has no events. After a failure with an unknown outcome, such as a failed sync, the store decides whether the
 * append is stored.
 */
async function isAppendStored(store: TaskStore, append: LogAppend): Promise<boolean> {
  const { scope, taskId, expectedSeq, events } = append;
  if (events.length === 0) return await areQueuedTurnsStored(store, append);
  const limit = { events: events.length, maxBytes: Infinity };
  const logged = await store.readEvents(scope, taskId, expectedSeq, limit);
  return (
    logged.length === events.length && logged.every(({ jsonText }, at) => jsonText === events[at]?.jsonText)
  );
}

async function areQueuedTurnsStored(
  store: TaskStore,
  { scope, taskId, queueChange: { added } = { added: [] } }: LogAppend,
): Promise<boolean> {
  if (added.length === 0) return false;
  const { queuedTurns = [] } = (await store.load(scope, taskId)) ?? {};
  return added.every(({ position, message: { messageId } }) =>
    queuedTurns.some((stored) => stored.position === position && stored.message.messageId === messageId),
  );
}
