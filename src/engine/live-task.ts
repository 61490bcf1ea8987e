import {
  A2AError,
  isTerminal,
  LogEvent,
  findEventRefusal,
  copyTask,
  type EventRefusal,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { AwaitedChanges, type UncommittedMessage } from "./awaited-changes.ts";
import type { TaskScope } from "./caller.ts";
import { createCommitFailedError } from "./task-errors.ts";
import { formatTimestamp } from "./clock.ts";
import type { UncommittedEventSource } from "./committer.ts";
import type { QueuedTurnData } from "./queued-turn-data.ts";
import type { UncommittedSteps } from "./steps/turn-steps.ts";
import type { TurnRestartData } from "./turn-restart-data.ts";
import type { TaskWithPossibleWebhooks } from "./push-notifications.ts";
import { CommitWaiters } from "./commit-waiters.ts";
import { EventsPendingCommit } from "./events-pending-commit.ts";
import { foldLogEvents, getEventStatus, hasTurnStop } from "./log-events.ts";
import { measureEventSize } from "./measure-size.ts";
import { SnapshotPlanner } from "./snapshot-planner.ts";
import { StoredTurn } from "./stored-turn.ts";
import type { LogAppend, AppendRefusal, StoredTask } from "./task-store.ts";
import type { CommittedTask } from "./task-feed.ts";
import type { TaskLease } from "./task-leases.ts";
import { TaskLogTail } from "./task-log-tail.ts";
import { TaskSizeMeter } from "./task-size-meter.ts";
import type { LiveTaskDependencies, LiveTaskListener } from "./live-task-dependencies.ts";

/**
 * An active task. A `LiveTask` appends new events to the task's log. The live task validates each accepted
 * event. A valid event waits for the next commit. After the commit (E1), the event is folded into the task
 * and becomes visible to readers.
 */
export class LiveTask implements UncommittedEventSource, TaskWithPossibleWebhooks, CommittedTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** The running turn in the store. */
  readonly storedTurn: StoredTurn;
  readonly sizeMeter: TaskSizeMeter;
  readonly tail: TaskLogTail = new TaskLogTail();
  /** False if the task is known to have no webhooks. */
  mayHaveWebhooks: boolean;
  readonly #context: LiveTaskDependencies;
  readonly #listener: LiveTaskListener;
  readonly #pendingEvents: EventsPendingCommit;
  readonly #snapshotPlanner: SnapshotPlanner | undefined;
  /** The committed task. */
  #task: Task | undefined;
  #seq: number;
  #epoch: number;
  /** State that the task will have when all pending events are committed. */
  #state: TaskState | undefined;
  #statusTimestamp: string;
  /** Changes that wait for the next commit together with the pending events. */
  #awaitedChanges: AwaitedChanges | undefined;
  #currentCommit: { append: LogAppend; readonly changes: AwaitedChanges | undefined } | undefined;
  readonly #waiters = new CommitWaiters();
  #failure: A2AError | undefined;
  /** True if a pending event must be committed without delay. */
  #isUrgent = false;

  constructor(
    context: LiveTaskDependencies,
    listener: LiveTaskListener,
    ids: { scope: TaskScope; taskId: string; contextId: string },
    stored?: StoredTask,
  ) {
    this.#context = context;
    this.#listener = listener;
    this.scope = ids.scope;
    this.taskId = ids.taskId;
    this.contextId = ids.contextId;
    this.sizeMeter = new TaskSizeMeter(context.taskSizeLimit, () => this.#task);
    this.#pendingEvents = new EventsPendingCommit(context.mergeChunks);
    if (context.store.usesSnapshots) this.#snapshotPlanner = new SnapshotPlanner(stored?.snapshotProgress);
    this.mayHaveWebhooks = stored !== undefined;
    this.#task = stored?.task;
    this.#seq = stored?.seq ?? 0;
    this.#epoch = stored?.epoch ?? 0;
    this.storedTurn = new StoredTurn(stored?.awaitsRecovery ?? false);
    this.#state = stored?.task.status.state;
    this.#statusTimestamp = stored?.task.status.timestamp ?? "";
  }

  /** Sequence number of the newest committed event. */
  get seq(): number {
    return this.#seq;
  }

  /** The lease under which this live task appends. */
  get lease(): TaskLease {
    return { scope: this.scope, taskId: this.taskId, epoch: this.#epoch };
  }

  /** Appends under a new lease, which this node has claimed. `turn` is the persisted turn of the store. */
  adoptLease({ epoch, turn }: TaskLease & { readonly turn?: TurnRestartData }): void {
    this.#epoch = epoch;
    this.storedTurn.setClaimed(turn);
  }

  /**
   * State that the task will have when all pending events are committed, or `undefined` before the task is
   * created.
   */
  get state(): TaskState | undefined {
    return this.#state;
  }

  /** True while the task has events or changes of its queue that wait for a commit. */
  get hasPendingEvents(): boolean {
    return this.#currentCommit !== undefined || this.#hasChangesToCommit;
  }

  get #hasChangesToCommit(): boolean {
    return this.#pendingEvents.length > 0 || this.#awaitedChanges?.needsCommit === true;
  }

  get hasCommitFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** The reason why the task commits no more events. */
  get failure(): A2AError | undefined {
    return this.#failure;
  }

  /** Returns a copy of the committed task. Later events do not change the copy. */
  getSnapshot(): Task {
    if (!this.#task) throw A2AError.taskNotFound(this.taskId);
    // A finished task never changes, so it needs no copy.
    return isTerminal(this.#task.status.state) ? this.#task : copyTask(this.#task);
  }

  /** Returns true if the event with the sequence number `seq` is the last event of the task. */
  hasEndedAtSeq(seq: number): boolean {
    return seq >= this.#seq && this.#task !== undefined && isTerminal(this.#task.status.state);
  }

  /** Resolves at the next commit of the task. Rejects if the task will commit no more events. */
  waitForCommit(): Promise<void> {
    return this.#waiters.waitForCommit();
  }

  /**
   * Resolves at the next commit of the task or change of its turns. Rejects if the task will commit no more
   * events.
   */
  waitForCommitOrTurnChange(): Promise<void> {
    return this.#waiters.waitForCommitOrTurnChange();
  }

  /** Wakes the requests that wait for a commit or for a change of the task's turns. */
  notifyTurnChange(): void {
    this.#waiters.resolveTurnChange();
  }

  /** Time of the newest status, including pending events. ISO 8601. */
  get statusTimestamp(): string {
    return this.#statusTimestamp;
  }

  /**
   * Returns the time for a new status in ISO 8601 UTC with milliseconds. The time is never earlier than the
   * time of the newest status (E16).
   */
  getNextStatusTimestamp(): string {
    const now = formatTimestamp(this.#context.clock.now());
    return now < this.#statusTimestamp ? this.#statusTimestamp : now;
  }

  /**
   * Accepts an event and schedules its commit, or returns the reason why the task cannot accept the event.
   * The caller must await `waitForCapacity` before the next call to `validateAndEnqueueEvent`. Ignores the event after a
   * failed commit, because the task commits no more events. `size` is the size of the event in characters.
   */
  validateAndEnqueueEvent(
    event: TaskEvent,
    size: number = measureEventSize(event),
  ): EventRefusal | undefined {
    if (this.#failure) return undefined;
    const refusal = findEventRefusal(this.#state, event);
    if (refusal) return refusal;
    const status = getEventStatus(event);
    if (status) {
      this.#state = status.state;
      this.#statusTimestamp = status.timestamp ?? this.#statusTimestamp;
    }
    this.sizeMeter.add(size);
    // Only chunks can be delayed. Clients wait for every other event.
    const isUrgent = !("artifactUpdate" in event);
    const mustEnqueue = this.#pendingEvents.length === 0 || (isUrgent && !this.#isUrgent);
    this.#pendingEvents.push(event, size);
    this.#isUrgent ||= isUrgent;
    // The committer already knows a writer with earlier events.
    if (mustEnqueue && !this.#currentCommit) this.#context.committer.enqueue(this, isUrgent);
    return undefined;
  }

  /**
   * Accepts an event that contains a caller's message. If the same request registers a webhook, the webhook
   * is stored in the same commit. `durableSeq` resolves with the event's sequence number once the event and
   * the webhook are durable, and rejects after a failed commit.
   */
  validateAndEnqueueMessageEvent(
    event: TaskEvent,
    message: Omit<UncommittedMessage, "seq">,
    size?: number,
  ): EventRefusal | undefined {
    const seq = this.lastPendingSeq + 1;
    const refusal = this.validateAndEnqueueEvent(event, size);
    if (refusal) return refusal;
    if (this.#failure) message.durableSeq.reject(this.#failure);
    else this.#getAwaitedChanges().addMessage({ ...message, seq });
    return undefined;
  }

  /** Stores a turn at the end of the task's queue. Resolves when the queued turn is durable. */
  enqueueQueuedTurn(queued: QueuedTurnData): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    const durable = this.#getAwaitedChanges().addQueuedTurn(queued);
    this.#requestCommit();
    return durable;
  }

  /** Removes the turns up to `position` from the queue in the same commit as the newest accepted event. */
  removeQueuedTurnsThrough(position: number): void {
    this.#getAwaitedChanges().removeQueuedTurnsThrough(position);
  }

  /**
   * Commits the finished steps of the running turn together with all accepted events. Resolves when the steps are
   * durable. Resolves at once while the store has no running turn of the task, because such a turn is not attempted
   * again. If the store later receives the turn, the store also receives the steps.
   */
  commitSteps(steps: UncommittedSteps): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.storedTurn.setSteps(steps);
    const { isRunning } = this.storedTurn;
    if (!(this.storedTurn.getChange(this.#state, this.#listener) ?? isRunning)) return Promise.resolve();
    const durable = this.#getAwaitedChanges().awaitSteps();
    this.#requestCommit();
    return durable;
  }

  /** Persists the turn in a separate commit, because its start has no event. */
  commitTurnStart(turn: TurnRestartData, steps?: UncommittedSteps): void {
    this.storedTurn.persist(turn, steps);
    this.#getAwaitedChanges().addTurnChange();
    this.#requestCommit();
  }

  /** Commits the end of a turn that ended without an event. Otherwise, the turn's last append commits the end. */
  commitTurnEnd(): void {
    const change = this.storedTurn.getChange(this.#state, this.#listener);
    if (this.#failure || change === undefined) return;
    this.#getAwaitedChanges().addTurnChange();
    this.#requestCommit();
  }

  /** True until the store has committed all events of the task. False if the task will commit no more events. */
  get hasUncommittedEvents(): boolean {
    return this.#failure === undefined && this.lastPendingSeq > this.#seq;
  }

  /** Sequence number of the newest event, including pending events. */
  get lastPendingSeq(): number {
    return this.#seq + (this.#currentCommit?.append.events.length ?? 0) + this.#pendingEvents.length;
  }

  /**
   * Returns `undefined` while the writer can continue, or a promise that resolves when the writer can
   * continue.
   */
  waitForCapacity(): Promise<void> | undefined {
    return this.#failure ? undefined : this.#pendingEvents.waitForCapacity();
  }

  takePendingAppend(): LogAppend | undefined {
    if (this.#currentCommit || this.#failure || !this.#hasChangesToCommit || !this.#state) return undefined;
    const events = this.#pendingEvents
      .takeAll()
      .map((event, at) => LogEvent.create(this.#seq + 1 + at, event));
    const changes = this.#awaitedChanges;
    this.#awaitedChanges = undefined;
    this.#isUrgent = false;
    // Set this before serializing, which can fail, so that a failure rejects the waiting messages.
    const commit = { append: this.#createAppend(events, this.#state, changes), changes };
    this.#currentCommit = commit;
    if (events.length === 0) return commit.append;
    const artifactReferences = this.#snapshotPlanner?.planSnapshot(this.#task, events, this.#state);
    if (!artifactReferences) return commit.append;
    const snapshot = foldLogEvents(this.taskId, this.#task && copyTask(this.#task), events);
    commit.append = { ...commit.append, snapshot, artifactReferences };
    return commit.append;
  }

  #createAppend(
    events: readonly LogEvent[],
    state: TaskState,
    changes: AwaitedChanges | undefined,
  ): LogAppend {
    const turnChange = this.storedTurn.takeChange(state, this.#listener);
    const isRunning = turnChange.hasRunningTurn ?? this.storedTurn.isRunning;
    // Otherwise, another node could begin a queued turn without noticing the turns that this append queues.
    const incrementsEpoch =
      changes?.changesQueue && !isRunning && this.#seq > 0 && this.#context.store.nodes !== undefined;
    return {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      expectedSeq: this.#seq,
      events,
      status: { state, timestamp: this.#statusTimestamp },
      messages: (this.#context.deduplicateMessages && changes?.messageIds) || [],
      ...changes?.getAppendMembers(),
      epoch: this.#epoch,
      ...(incrementsEpoch ? { incrementsEpoch: true } : {}),
      ...turnChange,
    };
  }

  onCommitted(): void {
    if (!this.#currentCommit) return this.#listener.onLateCommitResult();
    const { append, changes } = this.#currentCommit;
    try {
      this.#applyCommit(append);
      this.#publishCommit(append);
    } catch (error) {
      // The committer reports the error to `onCommitFailed`, which no longer knows the changes.
      changes?.reject(error);
      throw error;
    }
    changes?.resolve();
    if (hasTurnStop(append.status.state, append.events)) this.#listener.onTurnStop();
    if (this.#hasChangesToCommit) this.#context.committer.enqueue(this, this.#isUrgent);
    else this.#listener.onAllCommitted();
  }

  #applyCommit(append: LogAppend): void {
    this.#currentCommit = undefined;
    this.#task = append.snapshot
      ? copyTask(append.snapshot)
      : foldLogEvents(this.taskId, this.#task, append.events);
    this.#seq += append.events.length;
    if (append.incrementsEpoch) this.#epoch++;
    this.storedTurn.onCommitted(append);
    // Set this only after the commit, because an outbox lookup before the commit can find no webhook.
    if (append.webhooks) this.mayHaveWebhooks = true;
  }

  onCommitFailed(cause: AppendRefusal | Error): void {
    if (this.#failure) return this.#listener.onLateCommitResult();
    const failure = createCommitFailedError(this.taskId, cause);
    this.#failure = failure;
    this.#currentCommit?.changes?.reject(failure);
    this.#currentCommit = undefined;
    this.#awaitedChanges?.reject(failure);
    this.#awaitedChanges = undefined;
    this.#pendingEvents.takeAll();
    this.#waiters.reject(failure);
    // The sender of a message applies the message again, if another node was first.
    if (cause instanceof Error || this.storedTurn.isRunning || !this.#context.store.nodes)
      this.#context.observer.onError?.({ where: "store", error: failure, taskId: this.taskId });
    // A release that follows a refused start could release the lease of the next turn, which has the same epoch.
    this.#listener.onCommitFailed(failure, cause instanceof Error || this.storedTurn.isRunning);
  }

  /** Releases the events in memory, and prepares for webhooks that are registered while the task rests. */
  rest(): void {
    this.tail.clear();
    this.mayHaveWebhooks = true;
  }

  /** Rejects all readers of the task, because the store has erased the task. */
  markErased(): void {
    this.#failure = A2AError.taskNotFound(this.taskId);
    this.tail.clear();
    this.#waiters.reject(this.#failure);
  }

  #getAwaitedChanges(): AwaitedChanges {
    return (this.#awaitedChanges ??= new AwaitedChanges());
  }

  /** Makes the committer take the pending changes without delay. */
  #requestCommit(): void {
    this.#isUrgent = true;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, true);
  }

  #publishCommit({ events, webhooks }: LogAppend): void {
    const { observer, onCommit, outbox } = this.#context;
    const { scope, taskId } = this;
    if (this.#listener.hasReaders) this.tail.add(events);
    else this.tail.clear();
    if (observer.onEvent) for (const event of events) observer.onEvent({ scope, taskId, event });
    onCommit?.(taskId);
    if (this.mayHaveWebhooks && events.length > 0) outbox?.notifyCommit(this, webhooks);
    this.#waiters.resolveCommit();
  }
}
