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
import { Deferred } from "../data-structures/index.ts";
import type { TaskScope } from "./caller.ts";
import { createCommitFailedError } from "./task-errors.ts";
import { formatTimestamp } from "./clock.ts";
import type { UncommittedEventSource } from "./event-committer.ts";
import { PendingQueueChange } from "./pending-queue-change.ts";
import type { QueuedTurnData } from "./queued-turn-data.ts";
import type { UncommittedSteps } from "./steps/turn-steps.ts";
import type { TurnRestartData } from "./turn-restart-data.ts";
import type { TaskWithPossibleWebhooks } from "./push/active-webhooks.ts";
import { CommitWaiters } from "./commit-waiters.ts";
import { EventsPendingCommit } from "./events-pending-commit.ts";
import { foldLogEvents, getEventStatus, hasTurnStop } from "./log-events.ts";
import { SnapshotPlanner } from "./snapshot-planner.ts";
import type { LogAppend, AppendRefusal, StoredTask } from "./task-store.ts";
import type { CommittedTask } from "./task-feed.ts";
import type { TaskLease } from "./task-leases.ts";
import { TaskLogTail } from "./task-log-tail.ts";
import { TaskSizeMeter } from "./task-size-meter.ts";
import { selectMessageIds, type UncommittedMessage } from "./uncommitted-message.ts";
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
  /** Value of `hasRunningTurn` in the store. */
  #hasStoredRunningTurn: boolean;
  #mustCommitWithoutEvents = false;
  /** State that the task will have when all pending events are committed. */
  #state: TaskState | undefined;
  #statusTimestamp: string;
  #uncommittedMessages: UncommittedMessage[] = [];
  #currentCommit:
    | {
        readonly append: LogAppend;
        readonly messages: readonly UncommittedMessage[];
        readonly queueChange: PendingQueueChange | undefined;
        readonly stepCommit: Deferred | undefined;
      }
    | undefined;
  #capacity: Deferred | undefined;
  readonly #waiters = new CommitWaiters();
  #failure: A2AError | undefined;
  /** The turn to persist for as long as the turn is running. */
  #turnToPersist: TurnRestartData | undefined;
  #isTurnPersisted = false;
  /** Change of the task's queue that waits for the next commit. */
  #queueChange: PendingQueueChange | undefined;
  /** The steps of the running turn, once the turn has finished a step. */
  #steps: UncommittedSteps | undefined;
  /** Resolves when the finished steps that wait for the next commit are durable. */
  #stepCommit: Deferred | undefined;
  /** True if a pending event must be committed without delay. */
  #isUrgent = false;
  readonly #sizeMeter = new TaskSizeMeter(() => this.#task);

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
    this.#pendingEvents = new EventsPendingCommit(context.mergeChunks);
    if (context.store.usesSnapshots) this.#snapshotPlanner = new SnapshotPlanner(stored?.snapshotProgress);
    this.mayHaveWebhooks = stored !== undefined;
    this.#task = stored?.task;
    this.#seq = stored?.seq ?? 0;
    this.#epoch = stored?.epoch ?? 0;
    this.#hasStoredRunningTurn = stored?.awaitsRecovery ?? false;
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

  /**
   * Appends under a new lease, which this node has claimed. The store has a running turn for every claimed task, also
   * if this node has loaded the task before that turn. `turn` is the persisted turn of the store.
   */
  adoptLease({ epoch, turn }: TaskLease & { readonly turn?: TurnRestartData }): void {
    this.#epoch = epoch;
    this.#hasStoredRunningTurn = true;
    if (turn) this.persistTurn(turn);
    this.#isTurnPersisted = turn !== undefined;
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
    const hasOtherChanges = this.#queueChange !== undefined || this.#stepCommit !== undefined;
    return this.#pendingEvents.length > 0 || this.#mustCommitWithoutEvents || hasOtherChanges;
  }

  get hasCommitFailed(): boolean {
    return this.#failure !== undefined;
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
    if (this.#failure) return Promise.reject(this.#failure);
    return this.#waiters.waitForCommit();
  }

  /**
   * Resolves at the next commit of the task or change of its turns. Rejects if the task will commit no more
   * events.
   */
  waitForCommitOrTurnChange(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    return this.#waiters.waitForCommitOrTurnChange();
  }

  /** Wakes the requests that wait for a commit or for a change of the task's turns. */
  notifyTurnChange(): void {
    this.#waiters.resolveTurnChange();
  }

  /**
   * Returns the time for a new status in ISO 8601 UTC with milliseconds. The time is never earlier than the
   * time of the newest status (E16).
   */
  getNextStatusTimestamp(): string {
    const now = formatTimestamp(this.#context.clock.now());
    return now < this.#statusTimestamp ? this.#statusTimestamp : now;
  }

  /** Returns true if the task would be larger than the limit after the event. */
  exceedsSizeLimitWith(event: TaskEvent): boolean {
    return this.size + this.#sizeMeter.measureEvent(event) > this.#context.taskSizeLimit;
  }

  /** Approximate size of the task, in characters of JSON. */
  get size(): number {
    return this.#sizeMeter.size;
  }

  /**
   * Accepts an event and schedules its commit, or returns the reason why the task cannot accept the event.
   * The caller must await `waitForCapacity` before the next call to `validateAndEnqueueEvent`.
   */
  validateAndEnqueueEvent(event: TaskEvent): EventRefusal | undefined {
    const refusal = findEventRefusal(this.#state, event);
    if (refusal) return refusal;
    const status = getEventStatus(event);
    if (status) {
      this.#state = status.state;
      this.#statusTimestamp = status.timestamp ?? this.#statusTimestamp;
    }
    this.#sizeMeter.add(event);
    this.#pendingEvents.push(event);
    // Only chunks can be delayed. Clients wait for every other event.
    const urgent = !("artifactUpdate" in event);
    this.#isUrgent ||= urgent;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, urgent);
    return undefined;
  }

  /**
   * Accepts an event that contains a caller's message. If the same request registers a webhook, the webhook
   * is stored in the same commit. `durableSeq` resolves with the event's sequence number once the event and
   * the webhook are durable.
   */
  validateAndEnqueueMessageEvent(
    event: TaskEvent,
    message: Omit<UncommittedMessage, "seq">,
  ): EventRefusal | undefined {
    const seq = this.lastPendingSeq + 1;
    const refusal = this.validateAndEnqueueEvent(event);
    if (refusal) return refusal;
    this.#uncommittedMessages.push({ ...message, seq });
    return undefined;
  }

  /** Stores a turn at the end of the task's queue. Resolves when the queued turn is durable. */
  enqueueQueuedTurn(queued: QueuedTurnData): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    const durable = (this.#queueChange ??= new PendingQueueChange()).add(queued);
    this.#isUrgent = true;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, true);
    return durable;
  }

  /** Removes the turns up to `position` from the queue in the same commit as the newest accepted event. */
  removeQueuedTurnsThrough(position: number): void {
    (this.#queueChange ??= new PendingQueueChange()).removeThrough(position);
  }

  /**
   * Persists the turn and its finished steps in the same commit as the newest accepted event, until the turn ends.
   */
  persistTurn(turn: TurnRestartData | undefined, steps?: UncommittedSteps): void {
    this.#turnToPersist = turn;
    this.#isTurnPersisted = false;
    this.#steps = steps;
  }

  /**
   * Commits the finished steps of the running turn together with all accepted events. Resolves when the steps are
   * durable. Resolves at once while the store has no running turn of the task, because such a turn is not attempted
   * again. If the store later receives the turn, the store also receives the steps.
   */
  commitSteps(steps: UncommittedSteps): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#steps = steps;
    if (!(this.#getRunningTurnChange() ?? this.#hasStoredRunningTurn)) return Promise.resolve();
    const commit = (this.#stepCommit ??= new Deferred());
    this.#isUrgent = true;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, true);
    return commit.promise;
  }

  /** Persists the turn in a separate commit, because its start has no event. */
  commitTurnStart(turn: TurnRestartData, steps?: UncommittedSteps): void {
    this.persistTurn(turn, steps);
    this.#mustCommitWithoutEvents = true;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, true);
  }

  /**
   * Returns the append that ends the attempt at the persisted turn without an end of the turn. Every node can then
   * claim the task, and must do so at the time `wakeAt`, in milliseconds since 1970. Call the function only after all
   * events are committed.
   */
  createHandoverAppend(wakeAt: number | undefined): LogAppend | undefined {
    if (!this.#hasStoredRunningTurn || !this.#turnToPersist) return undefined;
    // The span of the attempt has ended.
    const { runStartedAt: _ended, ...turn } = this.#turnToPersist;
    return {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      expectedSeq: this.#seq,
      events: [],
      status: { state: this.#state as TaskState, timestamp: this.#statusTimestamp },
      messages: [],
      turn: {
        ...turn,
        handovers: (turn.handovers ?? 0) + 1,
        ...(wakeAt === undefined ? {} : { wakeAt }),
      },
      epoch: this.#epoch,
      releasesLease: true,
    };
  }

  /** Commits the end of a turn that ended without an event. Otherwise, the turn's last append commits the end. */
  commitTurnEnd(): void {
    if (this.#failure || this.#getRunningTurnChange() === undefined) return;
    this.#mustCommitWithoutEvents = true;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, true);
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
    return this.#pendingEvents.isFull && !this.#failure
      ? (this.#capacity ??= new Deferred()).promise
      : undefined;
  }

  // The committer calls the following methods.

  takePendingAppend(): LogAppend | undefined {
    if (this.#currentCommit || this.#failure || !this.#hasChangesToCommit || !this.#state) return undefined;
    this.#mustCommitWithoutEvents = false;
    const events = this.#pendingEvents
      .takeAll()
      .map((event, at) => LogEvent.create(this.#seq + 1 + at, event));
    const messages = this.#uncommittedMessages;
    this.#uncommittedMessages = [];
    this.#isUrgent = false;
    const queueChange = this.#queueChange;
    this.#queueChange = undefined;
    const stepCommit = this.#stepCommit;
    this.#stepCommit = undefined;
    const hasRunningTurn = this.#getRunningTurnChange();
    const webhooks = messages.length > 0 ? messages.flatMap(({ webhook }) => webhook ?? []) : [];
    const append: LogAppend = {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      expectedSeq: this.#seq,
      events,
      status: { state: this.#state, timestamp: this.#statusTimestamp },
      messages: this.#context.deduplicateMessages ? selectMessageIds(messages, queueChange) : [],
      ...(webhooks.length > 0 ? { webhooks } : {}),
      ...(queueChange ? { queueChange: queueChange.change } : {}),
      epoch: this.#epoch,
      ...(this.#mustIncrementEpoch(queueChange, hasRunningTurn) ? { incrementsEpoch: true } : {}),
      ...(hasRunningTurn === undefined ? {} : { hasRunningTurn }),
      ...(this.#turnToPersist ? this.#takePersistedTurnChange(hasRunningTurn) : {}),
    };
    // Set this before serializing, which can fail, so that a failure rejects the waiting messages.
    this.#currentCommit = { append, messages, queueChange, stepCommit };
    this.#wakeCapacityWaiters();
    if (events.length === 0) return append;
    const artifactReferences = this.#snapshotPlanner?.planSnapshot(this.#task, events, this.#state);
    if (!artifactReferences) return append;
    const snapshot = foldLogEvents(this.taskId, this.#task && copyTask(this.#task), events);
    const appendWithSnapshot = { ...append, snapshot, artifactReferences };
    this.#currentCommit = { append: appendWithSnapshot, messages, queueChange, stepCommit };
    return appendWithSnapshot;
  }

  /**
   * Returns the new value of `hasRunningTurn`, or `undefined` if the store has the value. A task that waits at
   * INPUT_REQUIRED has no running turn even while its agent still runs, because only a message can continue
   * the task. At AUTH_REQUIRED, the agent may continue without a message (A2A §7.6.1).
   */
  #getRunningTurnChange(): boolean | undefined {
    const state = this.#state;
    const canContinue = state !== undefined && !isTerminal(state) && state !== "TASK_STATE_INPUT_REQUIRED";
    const hasRunningTurn = canContinue && this.#listener.hasRunningTurn;
    return hasRunningTurn === this.#hasStoredRunningTurn ? undefined : hasRunningTurn;
  }

  /**
   * Returns the running turn and its finished steps if the store lacks them, or a `turn` of `null` if the running turn
   * has ended.
   */
  #takePersistedTurnChange(runningTurnChange: boolean | undefined): Pick<LogAppend, "turn" | "steps"> {
    if (runningTurnChange === false) {
      this.#isTurnPersisted = false;
      this.#steps?.markAllUnstored();
      return { turn: null };
    }
    const isRunning = runningTurnChange ?? this.#hasStoredRunningTurn;
    if (!isRunning || !this.#turnToPersist) return {};
    const steps = this.#steps?.takeUnstored() ?? [];
    const stepChange = steps.length > 0 ? { steps } : {};
    if (this.#isTurnPersisted) return stepChange;
    this.#isTurnPersisted = true;
    return { turn: this.#turnToPersist, ...stepChange };
  }

  /** Returns true if another node could begin a queued turn without noticing the turns that the append queues. */
  #mustIncrementEpoch(change: PendingQueueChange | undefined, hasRunningTurn: boolean | undefined): boolean {
    const isRunning = hasRunningTurn ?? this.#hasStoredRunningTurn;
    return change !== undefined && !isRunning && this.#seq > 0 && this.#context.store.nodes !== undefined;
  }

  onCommitted(): void {
    if (!this.#currentCommit) return this.#listener.onLateCommitResult();
    const { append, messages, queueChange, stepCommit } = this.#currentCommit;
    this.#currentCommit = undefined;
    this.#task = append.snapshot
      ? copyTask(append.snapshot)
      : foldLogEvents(this.taskId, this.#task, append.events);
    this.#seq += append.events.length;
    if (append.incrementsEpoch) this.#epoch++;
    this.#hasStoredRunningTurn = append.hasRunningTurn ?? this.#hasStoredRunningTurn;
    // Set this only after the commit, because an outbox lookup before the commit can find no webhook.
    if (append.webhooks) this.mayHaveWebhooks = true;
    this.#publishCommit(append);
    for (const { durableSeq, seq } of messages) durableSeq.resolve(seq);
    queueChange?.resolve();
    stepCommit?.resolve();
    if (hasTurnStop(append.status.state, append.events)) this.#listener.onTurnStop();
    if (this.#hasChangesToCommit)
      this.#context.committer.enqueue(this, this.#isUrgent || this.#mustCommitWithoutEvents);
    else this.#listener.onAllCommitted();
  }

  onCommitFailed(cause: AppendRefusal | Error): void {
    if (this.#failure) return this.#listener.onLateCommitResult();
    const failure = createCommitFailedError(this.taskId, cause);
    this.#failure = failure;
    for (const { durableSeq } of this.#currentCommit?.messages ?? []) durableSeq.reject(failure);
    for (const { durableSeq } of this.#uncommittedMessages) durableSeq.reject(failure);
    this.#currentCommit?.queueChange?.reject(failure);
    this.#queueChange?.reject(failure);
    this.#queueChange = undefined;
    this.#currentCommit?.stepCommit?.reject(failure);
    this.#stepCommit?.reject(failure);
    this.#stepCommit = undefined;
    this.#currentCommit = undefined;
    this.#pendingEvents.takeAll();
    this.#mustCommitWithoutEvents = false;
    this.#wakeCapacityWaiters();
    this.#waiters.reject(failure);
    // The sender of a message applies the message again, if another node was first.
    if (cause instanceof Error || this.#hasStoredRunningTurn || !this.#context.store.nodes)
      this.#context.observer.onError?.({ where: "store", error: failure, taskId: this.taskId });
    // A release that follows a refused start could release the lease of the next turn, which has the same epoch.
    this.#listener.onCommitFailed(failure, cause instanceof Error || this.#hasStoredRunningTurn);
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

  #wakeCapacityWaiters(): void {
    this.#capacity?.resolve();
    this.#capacity = undefined;
  }

  #publishCommit({ events, webhooks }: LogAppend): void {
    const { observer } = this.#context;
    if (this.#listener.hasReaders) this.tail.add(events);
    else this.tail.clear();
    if (observer.onEvent) {
      for (const event of events) observer.onEvent({ scope: this.scope, taskId: this.taskId, event });
    }
    this.#context.onCommit?.(this.taskId);
    if (this.mayHaveWebhooks && events.length > 0) this.#context.outbox?.notifyCommit(this, webhooks);
    this.#waiters.resolveCommit();
  }
}
