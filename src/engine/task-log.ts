import {
  A2AError,
  copyTask,
  estimateJsonSize,
  type EventRefusal,
  findEventRefusal,
  isTerminal,
  LogEvent,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { Deferred } from "../base/data-structures/index.ts";
import type { TaskScope } from "./caller.ts";
import { type Clock, formatTimestamp } from "./clock.ts";
import type { Committer, CommitWriter } from "./committer.ts";
import { foldLogEvents, getEventStatus, measureEventSize } from "./log-events.ts";
import type { Observer } from "./observer.ts";
import { type PushOutbox, type TaskWithPossibleWebhooks } from "./push-notifications.ts";
import { excuseAttempt, type TurnRestartData } from "./turn-restart-data.ts";
import { SnapshotPlanner } from "./snapshot-planner.ts";
import type { UncommittedSteps } from "./turn-steps.ts";
import { createCommitFailedError } from "./task-errors.ts";
import { type TaskFeed, TaskLogTail } from "./task-feed.ts";
import type { AppendRefusal, LogAppend, StoredTask, TaskStore, TaskLease } from "./task-store.ts";
import { type IncompleteAppend, UncommittedChanges, type UncommittedMessage } from "./uncommitted-changes.ts";

/** Dependencies of the logs of all active tasks of an engine. */
export interface TaskLogDependencies {
  readonly store: TaskStore;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly observer: Observer;
  /** True if other nodes can open the store, and continue the task. */
  readonly isShared: boolean;
  /** Time limit in milliseconds for a canceled agent to stop. */
  readonly cancelGraceMs: number;
  /** If true, the task merges text chunks that wait for the same commit. */
  readonly mergeChunks: boolean;
  /** If true, the store records the ids of messages. */
  readonly deduplicateMessages: boolean;
  /** Approximate maximum size of the task, in characters of JSON. */
  readonly taskSizeLimit: number;
  /** True if the task only commits the start of a turn that another node runs. */
  readonly submitsTurn?: boolean;
  /** Outbox that the task notifies of new events if the task may have webhooks. */
  readonly outbox?: Pick<PushOutbox, "notifyCommit"> | undefined;
  /** Announces the commit of a task to the other nodes of the store. */
  readonly announceCommit: ((taskId: string) => void) | undefined;
  /**
   * Called when the task abandons a turn that has not ended, so that the turn can be recovered. The agent has
   * stopped, or has ignored the signal to stop for `cancelGraceMs`. `handover` is the append that releases the lease
   * of a turn that a later process continues.
   */
  readonly releaseLease: (lease: TaskLease, handover?: LogAppend) => void;
  /** Resolves with the current feed of a task. */
  readonly openFeed: (scope: TaskScope, taskId: string) => Promise<TaskFeed | undefined>;
}

/**
 * The log of an active task: its committed events, the events and turns that wait for a commit, and the readers and
 * requests that wait for commits. Each accepted event is validated and waits for the next commit. After the commit (E1),
 * the event is folded into the task and becomes visible to readers. The log never waits for a reader (E2).
 *
 * The class `ActiveTask` adds the turns that write the events.
 */
export abstract class TaskLog implements CommitWriter, TaskWithPossibleWebhooks {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** False if the task is known to have no webhooks. */
  mayHaveWebhooks: boolean;
  readonly #context: TaskLogDependencies;

  // The committed task.
  #task: Task | undefined;
  #seq: number;
  #epoch: number;
  /** Created for the first reader. */
  #tail: TaskLogTail | undefined;

  // The changes that wait for a commit.
  #changes: UncommittedChanges | undefined;
  #currentCommit: { append: IncompleteAppend; readonly changes: UncommittedChanges } | undefined;
  /** State that the task will have when all pending events are committed. */
  #state: TaskState | undefined;
  #statusTimestamp: string;
  /** Size of the task with all of its events, or `undefined` if the size is unknown. */
  #size: number | undefined;
  readonly #snapshotPlanner: SnapshotPlanner | undefined;
  #failure: A2AError | undefined;

  // Waiting requests and readers.
  #nextCommit: Deferred | undefined;
  #nextChange: Deferred | undefined;
  #requestCount = 0;
  #readerCount = 0;
  #hasMoved = false;

  // The running turn in the store.
  /** True if a turn of the task runs according to the store. */
  isRunningInStore: boolean;
  /** The turn to persist for as long as the turn is running. */
  #restartData: TurnRestartData | undefined;
  #isRestartDataStored = false;
  /** The steps of the running turn, once the turn has finished a step. */
  #steps: UncommittedSteps | undefined;

  constructor(
    context: TaskLogDependencies,
    scope: TaskScope,
    taskId: string,
    contextId: string,
    stored?: StoredTask,
  ) {
    this.#context = context;
    this.scope = scope;
    this.taskId = taskId;
    this.contextId = contextId;
    if (context.store.usesSnapshots) this.#snapshotPlanner = new SnapshotPlanner(stored?.snapshotProgress);
    this.mayHaveWebhooks = stored !== undefined;
    this.isRunningInStore = stored?.awaitsRecovery ?? false;
    this.#task = stored?.task;
    this.#seq = stored?.seq ?? 0;
    this.#epoch = stored?.epoch ?? 0;
    this.#state = stored?.task.status.state;
    this.#statusTimestamp = stored?.task.status.timestamp ?? "";
  }

  /** True if the store must keep the current turn as a running turn. */
  abstract get mustKeepTurnInStore(): boolean;

  /** Settles when the agent of the last turn has ended. */
  protected abstract get agentEnd(): Promise<void> | undefined;

  /** Called after a commit, before the pending changes are committed. */
  protected abstract onChangesCommitted(append: LogAppend): void;

  /** Ends all turns, because the task commits no more events. */
  protected abstract endTurns(failure: A2AError): void;

  /** Called when the log has no pending changes, and when a request or a reader releases the task. */
  protected abstract startNextTurnOrIdle(): void;

  // ── The committed task and its readers ─────────────────────────────────────────────────────────────────────────────

  /** Sequence number of the newest committed event. */
  get seq(): number {
    return this.#seq;
  }

  /** The newest committed events, while the task has readers. */
  get tail(): TaskLogTail {
    return (this.#tail ??= new TaskLogTail());
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
    return (this.#nextCommit ??= new Deferred()).promise;
  }

  /**
   * Resolves at the next commit of the task or change of its turns. Rejects if the task will commit no more
   * events.
   */
  waitForCommitOrTurnChange(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    return (this.#nextChange ??= new Deferred()).promise;
  }

  /** Wakes the requests that wait for a commit or for a change of the task's turns. */
  notifyTurnChange(): void {
    const change = this.#nextChange;
    this.#nextChange = undefined;
    change?.resolve();
  }

  /** Keeps this task in the registry until the requester calls `release`. */
  retain(): this {
    this.#requestCount++;
    return this;
  }

  release(): void {
    this.#requestCount--;
    this.startNextTurnOrIdle();
  }

  /** Keeps this task for a reader. If other nodes can continue the task, the reader moves at the end of the turn. */
  retainForReader(): this {
    this.#readerCount++;
    return this;
  }

  releaseReader(): void {
    this.#readerCount--;
    if (!this.#hasMoved) this.startNextTurnOrIdle();
  }

  /** True if another node may continue the task, so that its readers must follow the log in the store. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  async reopen(): Promise<TaskFeed | undefined> {
    return await this.#context.openFeed(this.scope, this.taskId);
  }

  protected get hasRequests(): boolean {
    return this.#requestCount > 0;
  }

  protected get hasReaders(): boolean {
    return this.#readerCount > 0;
  }

  /** Makes the readers continue with the feed that `reopen` returns. */
  protected moveReaders(): void {
    this.#hasMoved = true;
    this.notifyTurnChange();
  }

  /** Releases the events in memory, and prepares for webhooks that are registered while the task rests. */
  rest(): void {
    this.#tail = undefined;
    this.mayHaveWebhooks = true;
  }

  /** Prepares a task that has rested for its next turn. */
  wakeUp(): this {
    this.#hasMoved = false;
    return this;
  }

  /** Rejects all readers of the task, because the store has erased the task. */
  markErased(): void {
    this.#failure = A2AError.taskNotFound(this.taskId);
    this.#tail = undefined;
    this.#rejectWaiters(this.#failure);
  }

  #rejectWaiters(error: A2AError): void {
    this.#nextCommit?.reject(error);
    this.#nextChange?.reject(error);
  }

  // ── New events ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * State that the task will have when all pending events are committed, or `undefined` before the task is
   * created.
   */
  get state(): TaskState | undefined {
    return this.#state;
  }

  /** Size of the task with all of its events, in characters of JSON. */
  get size(): number {
    return (this.#size ??= this.#task ? estimateJsonSize(this.#task) : 0);
  }

  /** Returns true if the task would be larger than the limit after an event of the given size. */
  exceedsLimitWith(eventSize: number): boolean {
    return this.size + eventSize > this.#context.taskSizeLimit;
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
   * Accepts an event and schedules its commit, or returns the reason why the task cannot accept the event. Ignores the
   * event after a failed commit, because the task commits no more events. `size` is the size of the event in characters.
   */
  protected writeEvent(event: TaskEvent, size: number): EventRefusal | undefined {
    if (this.#failure) return undefined;
    const refusal = findEventRefusal(this.#state, event);
    if (refusal) return refusal;
    const status = getEventStatus(event);
    if (status) {
      this.#state = status.state;
      this.#statusTimestamp = status.timestamp ?? this.#statusTimestamp;
    }
    this.#size = this.size + size;
    // Only chunks can be delayed. Clients wait for every other event.
    const isUrgent = !("artifactUpdate" in event);
    const changes = this.getChanges();
    const mustEnqueue = changes.eventCount === 0 || (isUrgent && !changes.isUrgent);
    changes.addEvent(event, size, this.#context.mergeChunks);
    changes.isUrgent ||= isUrgent;
    // The committer already knows a writer with earlier events.
    if (mustEnqueue && !this.#currentCommit) this.#context.committer.enqueue(this, isUrgent);
    return undefined;
  }

  /** Returns `undefined` while the agent can continue, or a promise that resolves when the agent can continue. */
  waitForCapacity(): Promise<void> | undefined {
    return this.#changes?.waitForCapacity();
  }

  /**
   * Writes an event that contains a caller's message. If the same request registers a webhook, the webhook
   * is stored in the same commit. `durableSeq` resolves with the event's sequence number once the event and
   * the webhook are durable, and rejects after a failed commit.
   */
  writeMessageEvent(
    event: TaskEvent,
    message: Omit<UncommittedMessage, "seq">,
    size: number = measureEventSize(event),
  ): EventRefusal | undefined {
    const seq = this.lastPendingSeq + 1;
    const refusal = this.writeEvent(event, size);
    if (refusal) return refusal;
    if (this.#failure) message.durableSeq.reject(this.#failure);
    else this.getChanges().addMessage({ ...message, seq });
    return undefined;
  }

  // ── Commits ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The lease under which this task appends. */
  get lease(): TaskLease {
    return { scope: this.scope, taskId: this.taskId, epoch: this.#epoch };
  }

  /** The error that a failed commit has caused, or `undefined`. */
  protected get failure(): A2AError | undefined {
    return this.#failure;
  }

  get hasCommitFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** True while the task has events or changes of its queue that wait for a commit. */
  get hasPendingEvents(): boolean {
    return this.#currentCommit !== undefined || this.#changes?.needsCommit === true;
  }

  /** True until the store has committed all events of the task. False if the task will commit no more events. */
  get hasUncommittedEvents(): boolean {
    return this.#failure === undefined && this.lastPendingSeq > this.#seq;
  }

  /** Sequence number of the newest event, including pending events. */
  get lastPendingSeq(): number {
    return this.#seq + (this.#currentCommit?.append.events.length ?? 0) + (this.#changes?.eventCount ?? 0);
  }

  protected getChanges(): UncommittedChanges {
    return (this.#changes ??= new UncommittedChanges());
  }

  /** Makes the committer take the pending changes without delay. */
  protected requestCommit(): void {
    this.getChanges().isUrgent = true;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, true);
  }

  takePendingAppend(): LogAppend | undefined {
    const changes = this.#changes;
    if (this.#currentCommit || this.#failure || !changes?.needsCommit || !this.#state) return undefined;
    this.#changes = undefined;
    const events = changes.takeEvents((event, at) => LogEvent.create(this.#seq + 1 + at, event));
    const append: IncompleteAppend = {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      expectedSeq: this.#seq,
      events,
      status: { state: this.#state, timestamp: this.#statusTimestamp },
      messages: [],
      epoch: this.#epoch,
    };
    // Set this before serializing, which can fail, so that a failure rejects the waiting messages.
    this.#currentCommit = { append, changes };
    changes.addTo(append, this.#context.deduplicateMessages);
    this.#addTurnTo(append);
    const isRunning = append.hasRunningTurn ?? this.isRunningInStore;
    // Otherwise, another node could begin a queued turn without noticing the turns that this append queues.
    if (changes.changesQueue && !isRunning && this.#seq > 0 && this.#context.isShared)
      append.incrementsEpoch = true;
    if (events.length === 0) return append;
    const artifactReferences = this.#snapshotPlanner?.planSnapshot(this.#task, events, this.#state);
    if (!artifactReferences) return append;
    append.snapshot = foldLogEvents(this.taskId, this.#task && copyTask(this.#task), events);
    append.artifactReferences = artifactReferences;
    return append;
  }

  onCommitted(): void {
    // The commit was under way when the task failed for another reason, and can have acquired the lease.
    if (!this.#currentCommit) return void this.#releaseLeaseAfterAgentEnd();
    const { append, changes } = this.#currentCommit;
    try {
      this.#applyCommit(append);
      this.#publishCommit(append);
    } catch (error) {
      // The committer reports the error to `onCommitFailed`, which no longer knows the changes.
      changes.reject(error);
      throw error;
    }
    changes.resolve();
    this.onChangesCommitted(append);
    if (this.#changes?.needsCommit) this.#context.committer.enqueue(this, this.#changes.isUrgent);
    else this.startNextTurnOrIdle();
  }

  #applyCommit(append: LogAppend): void {
    this.#currentCommit = undefined;
    this.#task = append.snapshot
      ? copyTask(append.snapshot)
      : foldLogEvents(this.taskId, this.#task, append.events);
    this.#seq += append.events.length;
    if (append.incrementsEpoch) this.#epoch++;
    this.isRunningInStore = append.hasRunningTurn ?? this.isRunningInStore;
    // Set this only after the commit, because an outbox lookup before the commit can find no webhook.
    if (append.webhooks) this.mayHaveWebhooks = true;
  }

  #publishCommit({ events, webhooks }: LogAppend): void {
    const { observer, announceCommit, outbox } = this.#context;
    const { scope, taskId } = this;
    if (this.#readerCount > 0 || this.#requestCount > 0) this.tail.add(events);
    else this.#tail = undefined;
    if (observer.onEvent) for (const event of events) observer.onEvent({ scope, taskId, event });
    announceCommit?.(taskId);
    if (this.mayHaveWebhooks && events.length > 0) outbox?.notifyCommit(this, webhooks);
    const commit = this.#nextCommit;
    this.#nextCommit = undefined;
    commit?.resolve();
    this.notifyTurnChange();
  }

  /** Ends all turns of the task because the store could not commit. `isReported` is true if the caller reports the failure. */
  onCommitFailed(cause: AppendRefusal | Error, isReported = false): void {
    // A commit that was under way can have acquired the lease.
    if (this.#failure) return void this.#releaseLeaseAfterAgentEnd();
    const failure = createCommitFailedError(this.taskId, cause);
    this.#failure = failure;
    this.#currentCommit?.changes.reject(failure);
    this.#currentCommit = undefined;
    this.#changes?.reject(failure);
    this.#changes = undefined;
    this.#rejectWaiters(failure);
    const { observer, isShared } = this.#context;
    // The sender of a message applies the message again, if another node was first.
    if (!isReported && (cause instanceof Error || this.isRunningInStore || !isShared))
      observer.onError?.({ where: "store", error: failure, taskId: this.taskId });
    // Another node can continue the task, so its readers follow the log.
    this.#hasMoved = isShared;
    this.endTurns(failure);
    // If the store has refused the start of a turn, this node has no lease. A release could release the lease of the next
    // turn, which has the same epoch.
    const mayHoldLease = cause instanceof Error || this.isRunningInStore;
    if (mayHoldLease && !this.#context.submitsTurn) void this.#releaseLeaseAfterAgentEnd();
  }

  /** Releases the lease once the agent has stopped, so that a recovered turn does not overlap with its agent. */
  async #releaseLeaseAfterAgentEnd(): Promise<void> {
    const { clock, cancelGraceMs, releaseLease } = this.#context;
    const graceEnd = new Deferred();
    const cancelTimer = clock.schedule(cancelGraceMs, () => graceEnd.resolve());
    await Promise.race([this.agentEnd, graceEnd.promise]);
    cancelTimer();
    releaseLease(this.lease);
  }

  // ── The running turn in the store ──────────────────────────────────────────────────────────────────────────────────

  /**
   * Appends under a new lease, which this node has claimed. The store has a running turn for every claimed task, also if
   * this node has loaded the task before that turn. `turn` is the persisted turn of the store.
   */
  adoptLease({ epoch, turn }: TaskLease & { readonly turn?: TurnRestartData }): void {
    this.#epoch = epoch;
    this.isRunningInStore = true;
    if (turn) this.persistTurn(turn, undefined);
    this.#isRestartDataStored = turn !== undefined;
  }

  /** Adds the turn and its finished steps to the next append, and keeps them in the store until the turn ends. */
  persistTurn(turn: TurnRestartData | undefined, steps: UncommittedSteps | undefined): void {
    this.#restartData = turn;
    this.#isRestartDataStored = false;
    this.#steps = steps;
  }

  /** Persists the turn in a separate commit, because its start has no event. */
  commitTurnStart(turn: TurnRestartData, steps: UncommittedSteps | undefined): void {
    this.persistTurn(turn, steps);
    this.getChanges().addTurnChange();
    this.requestCommit();
  }

  /** Commits the end of a turn that ended without an event. Otherwise, the turn's last append commits the end. */
  protected commitTurnEnd(): void {
    if (this.#failure || this.#getRunningTurnChange() === undefined) return;
    this.getChanges().addTurnChange();
    this.requestCommit();
  }

  /**
   * Commits the finished steps of the running turn together with all accepted events. Resolves when the steps are
   * durable. Resolves at once while the store has no running turn of the task, because such a turn is not attempted
   * again. If the store later receives the turn, the store also receives the steps.
   */
  commitSteps(steps: UncommittedSteps): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#steps = steps;
    if (!(this.#getRunningTurnChange() ?? this.isRunningInStore)) return Promise.resolve();
    const durable = this.getChanges().awaitSteps();
    this.requestCommit();
    return durable;
  }

  /**
   * Returns the new value of `hasRunningTurn`, or `undefined` if the store has the value. A task that waits at
   * INPUT_REQUIRED has no running turn even while its agent still runs, because only a message can continue
   * the task. At AUTH_REQUIRED, the agent may continue without a message (A2A §7.6.1).
   */
  #getRunningTurnChange(): boolean | undefined {
    const state = this.#state;
    const canContinue = state !== undefined && !isTerminal(state) && state !== "TASK_STATE_INPUT_REQUIRED";
    const isRunning = canContinue && this.mustKeepTurnInStore;
    return isRunning === this.isRunningInStore ? undefined : isRunning;
  }

  /** Adds the change of the running turn, and the data of the turn that the store lacks. */
  #addTurnTo(append: IncompleteAppend): void {
    const hasRunningTurn = this.#getRunningTurnChange();
    if (hasRunningTurn !== undefined) append.hasRunningTurn = hasRunningTurn;
    if (!this.#restartData) return;
    if (hasRunningTurn === false) {
      this.#isRestartDataStored = false;
      this.#steps?.markAllUnstored();
      append.turn = null;
      return;
    }
    if (!(hasRunningTurn ?? this.isRunningInStore)) return;
    const steps = this.#steps?.takeUnstored() ?? [];
    if (steps.length > 0) append.steps = steps;
    if (!this.#isRestartDataStored) append.turn = this.#restartData;
    this.#isRestartDataStored = true;
    if (this.#context.submitsTurn) append.releasesLease = true;
  }

  /**
   * Returns the append that ends the attempt at the persisted turn without an end of the turn. Every node can then
   * claim the task, and must do so at the time `wakeAt`, in milliseconds since 1970. Call the function only after all
   * events are committed.
   */
  protected createHandoverAppend(wakeAt: number | undefined): LogAppend | undefined {
    if (!this.isRunningInStore || !this.#restartData || !this.#state) return undefined;
    // The span of the attempt has ended.
    const { runStartedAt: _ended, ...turn } = excuseAttempt(this.#restartData);
    return {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      expectedSeq: this.#seq,
      events: [],
      status: { state: this.#state, timestamp: this.#statusTimestamp },
      messages: [],
      turn: { ...turn, ...(wakeAt === undefined ? {} : { wakeAt }) },
      epoch: this.#epoch,
      releasesLease: true,
    };
  }
}
